"""How long 50 assertions take on one cluster: ours, as safety specs, against chainsaw.

Both look at the same ConfigMaps and compare the same field, each as a whole program that a person
or a pipeline would start. chainsaw is given a namespace that exists, since it would else wait for
the end of one of its own. Called by `python -m benchmarks`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import Bound, Goal, Part, alone, side_by_side
from benchmarks.measuring import MeasurementError, alternating, printed, succeeded
from benchmarks.peer_builds import ensure_peer
from benchmarks.workbench import ROOT, STACK_DIR, Workbench
from harness.cluster.home import HOME_VARIABLE
from harness.core.files import write_json
from harness.core.interrupts import shielded
from harness.core.process import Finished, run, scrubbed_environment
from harness.core.waiting import SYSTEM_CLOCK
from harness.kube.client import KubeClient
from harness.specs.loader import load_specs
from harness.specs.probe import Probe
from harness.specs.running import run_specs

PART = "assertions"

#: As many as the goal speaks of.
_ASSERTIONS = 50

_NAMESPACE = "bench-assertions"
_SPEC = "settings-are-there"
_PEER = "chainsaw"

#: Bounds in seconds. A cluster with the stack is up after 10 s, the slower side takes 4 s.
_PROVISION_TIMEOUT_S = 600.0
_RUN_TIMEOUT_S = 120.0

_THREE_TIMES_FASTER = Goal(bound=Bound.RATIO_AT_MOST, limit=1 / 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """A cluster with the ConfigMaps, and the folders of both sides' assertions."""

    home: Path
    kubeconfig: Path
    policies_dir: Path
    chainsaw_dir: Path


def measure(bench: Workbench) -> Part:
    """Let both make the same assertions, alternating."""
    chainsaw = ensure_peer(bench, _PEER)
    taken: tuple[list[float], list[float]] = ([], [])
    with _standing(bench) as standing:
        sides: tuple[Callable[[int], float], ...] = (
            lambda number: _ours(bench, standing, number),
            lambda number: _theirs(bench, standing, chainsaw, number),
        )
        for side in sides:  # what only the first call does is done here
            side(0)
        for index, seconds in alternating(sides, bench.repeats):
            taken[index].append(seconds)
        inside = _in_process(bench, standing)
    return Part(
        figures=(
            side_by_side(
                PART,
                f"{_ASSERTIONS} assertions, whole program",
                ours=taken[0],
                peer=taken[1],
                peer_name=_PEER,
                goal=_THREE_TIMES_FASTER,
            ),
            alone(PART, f"{_ASSERTIONS} assertions, in a running process", ours=inside),
        )
    )


def spec_document(assertions: int) -> dict[str, Any]:
    """Return the assertions as a SafetySpec. Pure."""
    cases = [
        {
            "name": f"setting {number} is what was applied",
            "as": "admin",
            "request": {"verb": "get", "resource": "configmaps", "name": f"setting-{number}"},
            "expect": {"admitted": {"fields": {"data.number": str(number)}}},
        }
        for number in range(assertions)
    ]
    return {
        "apiVersion": "strandline.dev/v1",
        "kind": "SafetySpec",
        "metadata": {"name": _SPEC},
        "spec": {"namespace": _NAMESPACE, "cases": cases},
    }


def chainsaw_document(assertions: int) -> dict[str, Any]:
    """Return the assertions as a chainsaw Test, one step each. Pure."""
    wanted = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"setting-{number}", "namespace": _NAMESPACE},
            "data": {"number": str(number)},
        }
        for number in range(assertions)
    ]
    return {
        "apiVersion": "chainsaw.kyverno.io/v1alpha1",
        "kind": "Test",
        "metadata": {"name": _SPEC},
        "spec": {
            "namespace": _NAMESPACE,
            "steps": [{"try": [{"assert": {"resource": resource}}]} for resource in wanted],
        },
    }


@contextmanager
def _standing(bench: Workbench) -> Iterator[_Standing]:
    home = bench.folder(f"{PART}-home")
    policies_dir = bench.folder(f"{PART}-policies")
    chainsaw_dir = bench.folder(f"{PART}-chainsaw")
    write_json(policies_dir / _SPEC / "spec.yaml", spec_document(_ASSERTIONS))
    write_json(chainsaw_dir / "chainsaw-test.yaml", chainsaw_document(_ASSERTIONS))
    bench.say(f"{PART}: provisioning a cluster")
    with ExitStack() as taken_down:
        # Said and not raised: a teardown that fails must not hide why the measurement did.
        taken_down.callback(_take_down, bench, home)
        finished = _strandline(
            bench,
            home,
            *("provision", "--stack", str(STACK_DIR), "--policies", str(policies_dir)),
            *("--var", f"namespace={_NAMESPACE}", "--var", f"settings={_ASSERTIONS}", "--json"),
            timeout_s=_PROVISION_TIMEOUT_S,
        )
        provisioned = printed("provision", succeeded("provision", finished))
        yield _Standing(
            home=home,
            kubeconfig=Path(provisioned["kubeconfig"]),
            policies_dir=policies_dir,
            chainsaw_dir=chainsaw_dir,
        )


def _take_down(bench: Workbench, home: Path) -> None:
    with shielded(bench.say):  # an interrupt waits until the cluster is down
        ended = _strandline(bench, home, "teardown", timeout_s=_RUN_TIMEOUT_S)
    if ended.returncode:
        bench.say(f"{PART}: teardown exited {ended.returncode}: {ended.stderr.strip()[-500:]}")


def _ours(bench: Workbench, standing: _Standing, number: int) -> float:
    bench.say(f"{PART}: ours, {number} of {bench.repeats}")
    finished = _strandline(bench, standing.home, "verify", "--json", timeout_s=_RUN_TIMEOUT_S)
    held = printed("verify", succeeded("verify", finished))["held"]
    if held != _ASSERTIONS:
        msg = f"verify held {held} assertions, expected {_ASSERTIONS}"
        raise MeasurementError(msg)
    return finished.duration_s


def _theirs(bench: Workbench, standing: _Standing, chainsaw: Path, number: int) -> float:
    bench.say(f"{PART}: {_PEER}, {number} of {bench.repeats}")
    finished = run(
        [str(chainsaw), "test", "--test-dir", str(standing.chainsaw_dir), "--no-color", "--quiet"],
        env=scrubbed_environment({"KUBECONFIG": str(standing.kubeconfig)}),
        cwd=standing.chainsaw_dir,
        timeout_s=_RUN_TIMEOUT_S,
    )
    if "Passed  tests 1" not in succeeded(_PEER, finished).stdout:
        msg = f"{_PEER} passed no test: {finished.stdout[-200:]!r}"
        raise MeasurementError(msg)
    return finished.duration_s


def _in_process(bench: Workbench, standing: _Standing) -> list[float]:
    specs = load_specs(standing.policies_dir, lambda _: {}, stack=STACK_DIR.name, roles=())
    taken = []
    with closing(KubeClient.from_kubeconfig(standing.kubeconfig)) as client:
        for _ in range(bench.repeats):
            began_s = SYSTEM_CLOCK.monotonic_s()
            results = run_specs(specs, "swept", Probe.of(client, _NAMESPACE, frozenset()))
            taken.append(SYSTEM_CLOCK.monotonic_s() - began_s)
            if len(results) != _ASSERTIONS:
                msg = f"{len(results)} cases were run, expected {_ASSERTIONS}"
                raise MeasurementError(msg)
    return taken


def _strandline(bench: Workbench, home: Path, *arguments: str, timeout_s: float) -> Finished:
    return run(
        [sys.executable, "-m", "harness", *arguments],
        env=bench.python_environment({HOME_VARIABLE: str(home)}),
        cwd=ROOT,
        timeout_s=timeout_s,
        keep_survivors=True,  # a provisioned cluster is meant to live on
    )
