"""The gate's figures: how soon it opens once what it waits for is there, and how often too early.

Owns how many trials are made and what is good enough; the trials are `benchmarks.gate`'s. Called by
`python -m benchmarks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from benchmarks import gate
from benchmarks.figures import Bound, Figure, Goal, Part, alone
from benchmarks.workbench import Workbench
from harness.kube.client import KubeClient

PART = "gate"

#: Trials a repeat; with the usual seven they are a few more than the 200 of the goal.
_TRIALS_A_REPEAT = 30

_WITHIN_300_MS = Goal(bound=Bound.OURS_AT_MOST, limit=300)
_NONE = Goal(bound=Bound.OURS_AT_MOST, limit=0)


def measure(bench: Workbench) -> Part:
    """Run randomised trials on a cluster of their own."""
    with (
        bench.cluster(PART) as cluster,
        closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client,
    ):
        result = gate.measure(
            client,
            bench.folder(f"{PART}-world"),
            trials=bench.repeats * _TRIALS_A_REPEAT,
            say=bench.say,
        )
    return Part(figures=figures_of(result), detail=result)


def figures_of(result: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Return the figures of `gate.measure`'s result; a gate that never opened has no lag. Pure."""
    trials = result["trials"]
    lags_ms = [trial["lag_s"] * 1000 for trial in result["samples"] if trial["lag_s"] is not None]
    counts = tuple(
        alone(PART, f"{name}, of {trials} trials", ours=[result[key]], unit="", goal=_NONE)
        for key, name in (("false_openings", "opened too early"), ("never_opened", "never opened"))
    )
    if not lags_ms:
        return counts
    lag = alone(PART, "lag, from effective to open", ours=lags_ms, unit="ms", goal=_WITHIN_300_MS)
    return (lag, *counts)
