"""`make bench`: seconds by phase of the reference control, on each kind of cluster side by side.

Every cluster has a home of its own and stays for the whole measurement; tasks alternate between
them, so that what else the machine does hits all alike. Called by a person; nothing depends on it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import click

from benchmarks.table import Measured, attempts_of, table_lines, to_json
from harness.cli.options import say_on_stderr
from harness.cli.run import EXIT_FAILED
from harness.cluster.home import HOME_VARIABLE
from harness.cluster.images.places import default_images_dir
from harness.cluster.kind.engine import find_engine
from harness.core.interrupts import raise_interrupt, shielded
from harness.core.process import Finished, run
from harness.core.scratch import scratch_folder
from harness.core.waiting import SYSTEM_CLOCK
from harness.errors import HarnessError

#: One task that only does work, and one that begins in a broken world.
_TASKS = "mix-and-measure,settle-a-stopped-run"

#: Bounds in seconds. A first provision builds what is nowhere: 16 min on two cores; one attempt on
#: a busy machine took 35 s.
_PROVISION_TIMEOUT_S = 3600.0
_RUN_TIMEOUT_S = 300.0


class CommandFailedError(click.ClickException):
    """A command of the measurement failed: half a table would mislead."""

    def __init__(self, what: str, finished: Finished) -> None:
        said = (finished.stderr.strip() or "nothing on stderr")[-2000:]
        super().__init__(f"{what} exited {finished.returncode}: {said}")
        self.exit_code = finished.returncode  # type: ignore[misc] # click reads it of the instance


@dataclass(slots=True, kw_only=True)
class _Clock:
    """One cluster in a home of its own, and what it took so far."""

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
        with shielded(say_on_stderr):
            self.down_s = self._timed("teardown", timeout_s=_RUN_TIMEOUT_S)

    def attempt(self, task: str, *, seed: int) -> None:
        """Make one attempt of the reference control at a task."""
        where = f"{task} on {self.name}"
        finished = self._strandline(
            *("run", "--agent", "control:reference", "--only", task, "--seed", str(seed)),
            *("--runs-dir", str(self.home / "runs"), "--quiet", "--json"),
            timeout_s=_RUN_TIMEOUT_S,
        )
        if finished.returncode not in {0, EXIT_FAILED}:  # those two come with a report
            raise CommandFailedError(where, finished)
        try:
            self.attempts += attempts_of(json.loads(finished.stdout))
        except ValueError as error:
            msg = f"{where}: {error}"
            raise click.ClickException(msg) from error

    def measured(self) -> Measured:
        """Return what it took."""
        return Measured(up_s=self.up_s, down_s=self.down_s, attempts=tuple(self.attempts))

    def _timed(self, command: str, *, timeout_s: float) -> float:
        began_s = SYSTEM_CLOCK.monotonic_s()
        finished = self._strandline(command, timeout_s=timeout_s)
        if finished.returncode:
            what = f"{command} of {self.name}"
            raise CommandFailedError(what, finished)
        return SYSTEM_CLOCK.monotonic_s() - began_s

    def _strandline(self, command: str, *arguments: str, timeout_s: float) -> Finished:
        return run(
            [*(sys.executable, "-m", "harness", command, "--cluster", self.name), *arguments],
            env={**os.environ, HOME_VARIABLE: str(self.home)},
            timeout_s=timeout_s,
            keep_survivors=True,  # a provisioned cluster is meant to live on
        )


@click.command()
@click.option("--tasks", default=_TASKS, show_default=True, help="Names, with commas.")
@click.option("--repeats", type=click.IntRange(1, 100), default=3, show_default=True)
@click.option("--clusters", default="embedded,kind", show_default=True, help="Kinds, with commas.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
def phases(*, tasks: str, repeats: int, clusters: str, as_json: bool) -> None:
    """Measure what each phase of an attempt takes on each kind of cluster."""
    names = clusters.split(",")
    if "kind" in names:  # else it would only be said after the others were provisioned
        find_engine(settings_dir=default_images_dir(os.environ))
    measured = measure(names, tasks.split(","), repeats=repeats)
    if as_json:
        click.echo(json.dumps(to_json(measured), indent=2))
    else:
        click.echo(f"medians of {repeats} x {tasks}")
        click.echo("\n".join(table_lines(measured)))


def measure(names: Sequence[str], tasks: Sequence[str], *, repeats: int) -> dict[str, Measured]:
    """Provision every cluster, alternate between them, and take all down whatever happens."""
    with scratch_folder("bench") as scratch:
        clocks = [_Clock(name=name, home=scratch / name) for name in names]
        with ExitStack() as taken_down:
            for clock in clocks:
                say_on_stderr(f"provisioning {clock.name}")
                taken_down.callback(clock.teardown)
                clock.provision()
            for seed in range(1, repeats + 1):
                for task in tasks:
                    say_on_stderr(f"{task}, {seed} of {repeats}")
                    # The one that was second is first the next time.
                    for clock in clocks if seed % 2 else reversed(clocks):
                        clock.attempt(task, seed=seed)
        return {clock.name: clock.measured() for clock in clocks}


def main() -> None:
    """Run the benchmark and exit; an error of ours has its exit code of `strandline`."""
    signal.signal(signal.SIGTERM, raise_interrupt)
    try:
        phases()
    except HarnessError as error:
        say_on_stderr(f"error: {error.message}")
        say_on_stderr(f"hint: {error.hint}")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
