"""Seconds by phase of the reference control, on each kind of cluster side by side.

Every cluster has a home of its own and stays for the whole measurement; tasks alternate between
them, so that what else the machine does hits all alike. Called by `python -m benchmarks`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.attempts import Measured, attempts_of, phase_figures
from benchmarks.figures import Part
from benchmarks.measuring import MeasurementError, alternating, printed, succeeded
from benchmarks.workbench import ROOT, Workbench
from harness.cli.run import EXIT_FAILED
from harness.cluster.home import HOME_VARIABLE
from harness.cluster.images.places import default_images_dir
from harness.cluster.kind.engine import find_engine
from harness.core.interrupts import shielded
from harness.core.process import Finished, run
from harness.core.waiting import SYSTEM_CLOCK

PART = "phases"

#: One task that only does work, and one that begins in a broken world.
_TASKS = ("mix-and-measure", "settle-a-stopped-run")

#: Ours first, then who it is compared with.
_CLUSTERS = ("embedded", "kind")

#: Most rounds: an attempt takes 10 s on either cluster, and there are four of them in a round.
_MOST_ROUNDS = 3

#: Bounds in seconds. A first provision builds what is nowhere: 16 min on two cores; one attempt on
#: a busy machine took 35 s.
_PROVISION_TIMEOUT_S = 3600.0
_RUN_TIMEOUT_S = 300.0


@dataclass(slots=True, kw_only=True)
class _Clock:
    """One cluster in a home of its own, and what it took so far."""

    bench: Workbench
    name: str
    home: Path
    up_s: float = 0.0
    down_s: float = 0.0
    attempts: list[Mapping[str, float]] = field(default_factory=list)

    def provision(self) -> None:
        """Start it."""
        self.up_s = self._timed("provision", timeout_s=_PROVISION_TIMEOUT_S)

    def teardown(self) -> None:
        """End it, whatever became of it; an interrupt waits until that is done."""
        with shielded(self.bench.say):
            self.down_s = self._timed("teardown", timeout_s=_RUN_TIMEOUT_S)

    def round(self, number: int) -> None:
        """Make one attempt of the reference control at each task."""
        for task in _TASKS:
            what = f"{task} on {self.name}"
            self.bench.say(f"{PART}: {what}, {number}")
            finished = self._strandline(
                *("run", "--agent", "control:reference", "--only", task, "--seed", str(number)),
                *("--runs-dir", str(self.home / "runs"), "--quiet", "--json"),
                timeout_s=_RUN_TIMEOUT_S,
            )
            report = printed(what, succeeded(what, finished, codes=(0, EXIT_FAILED)))
            try:
                self.attempts += attempts_of(report)
            except ValueError as error:
                msg = f"{what}: {error}"
                raise MeasurementError(msg) from error

    def measured(self) -> Measured:
        """Return what it took."""
        return Measured(up_s=self.up_s, down_s=self.down_s, attempts=tuple(self.attempts))

    def _timed(self, command: str, *, timeout_s: float) -> float:
        began_s = SYSTEM_CLOCK.monotonic_s()
        succeeded(f"{command} of {self.name}", self._strandline(command, timeout_s=timeout_s))
        return SYSTEM_CLOCK.monotonic_s() - began_s

    def _strandline(self, command: str, *arguments: str, timeout_s: float) -> Finished:
        return run(
            [*(sys.executable, "-m", "harness", command, "--cluster", self.name), *arguments],
            env=self.bench.python_environment({HOME_VARIABLE: str(self.home)}),
            cwd=ROOT,
            timeout_s=timeout_s,
            keep_survivors=True,  # a provisioned cluster is meant to live on
        )


def measure(bench: Workbench) -> Part:
    """Measure what each phase of an attempt takes on the embedded cluster and on kind.

    Raises:
        PrerequisiteError: There is no container engine for kind.
    """
    # Else it would only be said after the embedded cluster was provisioned.
    find_engine(settings_dir=default_images_dir(os.environ))
    measured = _measure(bench, _CLUSTERS, rounds=min(bench.repeats, _MOST_ROUNDS))
    ours, theirs = (measured[name] for name in _CLUSTERS)
    return Part(
        figures=phase_figures(PART, ours=ours, peer=theirs, peer_name=_CLUSTERS[1]),
        detail={name: [*map(dict, one.attempts)] for name, one in measured.items()},
    )


def _measure(bench: Workbench, names: Sequence[str], *, rounds: int) -> dict[str, Measured]:
    """Provision every cluster, alternate between them, and take all down whatever happens."""
    clocks = [_Clock(bench=bench, name=name, home=bench.folder(f"{PART}-{name}")) for name in names]
    with ExitStack() as taken_down:
        for clock in clocks:
            bench.say(f"{PART}: provisioning {clock.name}")
            taken_down.callback(clock.teardown)
            clock.provision()
        for _ in alternating([clock.round for clock in clocks], rounds):
            pass
    return {clock.name: clock.measured() for clock in clocks}
