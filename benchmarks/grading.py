"""How many bundles are graded in a second of one core, after they were read.

The bundles are those of a real run of the reference on some tasks. Called by
`python -m benchmarks`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Bound, Goal, Part, alone
from benchmarks.measuring import printed, succeeded
from benchmarks.workbench import ROOT, Workbench
from harness.bench.rundir import RunDir
from harness.cluster.home import HOME_VARIABLE
from harness.core.process import run
from harness.grading.bundle import load_evidence
from harness.grading.scoring import grade
from harness.model.evidence import Evidence

PART = "grading"

#: Tasks with little on record and with much.
_TASKS = (
    *("make-what-was-asked", "series-without-overwriting", "approval-that-runs-out"),
    *("cut-off-mix", "finish-the-night-shift", "not-yours"),
)

#: Seconds for the run that makes the bundles: a cluster, and six attempts of 10 s.
_TIMEOUT_S = 600.0

#: Bundles graded for one figure.
_BUNDLES = 300

_GOAL = Goal(bound=Bound.OURS_AT_LEAST, limit=500)


def measure(bench: Workbench) -> Part:
    """Have bundles made, read them, and grade them over and over."""
    bundles = _bundles(bench)
    rates = [_rate(bundles) for _ in range(bench.repeats)]
    figure = alone(PART, "bundles graded on one core", ours=rates, unit="bundles/s", goal=_GOAL)
    return Part(figures=(figure,))


def _bundles(bench: Workbench) -> Sequence[tuple[Evidence, str]]:
    folder = bench.folder(PART)
    only = [word for task in _TASKS for word in ("--only", task)]
    finished = run(
        [
            *(sys.executable, "-m", "harness", "run", "--root", str(ROOT)),
            *("--suite", "lab-recovery", "--agent", "control:reference", *only),
            *("--runs-dir", str(folder / "runs"), "--json"),
        ],
        env={**os.environ, HOME_VARIABLE: str(folder / "home")},
        cwd=folder,
        timeout_s=_TIMEOUT_S,
    )
    printed(PART, succeeded("run that makes the bundles", finished, codes=(0, 1)))
    (run_path,) = (folder / "runs").iterdir()
    return [load_evidence(one.path) for one in RunDir(path=Path(run_path)).attempts()]


def _rate(bundles: Sequence[tuple[Evidence, str]]) -> float:
    # Time of the processor, not of the clock: what else the machine does is not our grading.
    began_s = time.process_time()
    for number in range(_BUNDLES):
        grade(*bundles[number % len(bundles)])
    return _BUNDLES / (time.process_time() - began_s)
