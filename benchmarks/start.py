"""How long a control plane takes to be ready: ours against controller-runtime's envtest.

Both start the same etcd and API server, each as a program of its own. Ours is ready when the
controller manager, which envtest lacks, has done its first work. Called by `python -m benchmarks`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from benchmarks.figures import Bound, Goal, Part, side_by_side
from benchmarks.measuring import alternating, printed, succeeded
from benchmarks.peer_builds import ensure_peer
from benchmarks.workbench import ROOT, Workbench
from harness.core.process import run, scrubbed_environment

PART = "start"

#: Seconds for one start and stop; 5 s on two idle cores, and each waits for itself at most 60 s.
_TIMEOUT_S = 180.0

_PEER = "envtest"
_NO_SLOWER = Goal(bound=Bound.RATIO_AT_MOST, limit=1.0)


def measure(bench: Workbench) -> Part:
    """Start and stop both, alternating."""
    binaries = bench.control_plane_binaries()
    peer = ensure_peer(bench, _PEER)
    home = bench.folder("start-home")
    # Not the caller's whole environment: envtest reads KUBEBUILDER_* and TEST_ASSET_* of it.
    theirs = scrubbed_environment({}, ambient=os.environ)
    sides = (
        _side(
            bench,
            "ours",
            [sys.executable, "-m", "benchmarks.one_start", str(home), str(binaries)],
            bench.python_environment({}),
        ),
        _side(bench, _PEER, [str(peer), str(binaries)], theirs),
    )
    taken: tuple[list[dict[str, float]], ...] = ([], [])
    for side in sides:  # what only the first call does is done here
        side(0)
    for index, seconds in alternating(sides, bench.repeats):
        taken[index].append(seconds)

    names = {"ready_s": "start to ready", "stop_s": "stop", "whole_s": "whole program"}
    return Part(
        figures=tuple(
            side_by_side(
                PART,
                name,
                ours=[seconds[key] for seconds in taken[0]],
                peer=[seconds[key] for seconds in taken[1]],
                peer_name=_PEER,
                goal=_NO_SLOWER if key == "ready_s" else None,
            )
            for key, name in names.items()
        )
    )


def _side(
    bench: Workbench, name: str, argv: Sequence[str], env: Mapping[str, str]
) -> Callable[[int], dict[str, float]]:
    def once(number: int) -> dict[str, float]:
        bench.say(f"start: {name}, {number} of {bench.repeats}")
        what = f"one start of {name}"
        finished = succeeded(what, run(argv, env=env, cwd=ROOT, timeout_s=_TIMEOUT_S))
        return {**printed(what, finished), "whole_s": finished.duration_s}

    return once
