"""The sweep's figures: seconds by how much is in a namespace, the rate, and whether it is linear.

Owns what is good enough; the sweeps are `benchmarks.sweep`'s. Called by `python -m benchmarks`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from benchmarks import sweep
from benchmarks.figures import Bound, Figure, Goal, Part, alone
from benchmarks.workbench import Workbench
from harness.kube.client import KubeClient

PART = "sweep"

#: Most namespaces of a size: the 1,000 objects in the largest take a while to be made.
_MOST_REPEATS = 3

#: An attempt's world has some tens of objects, and is to be gone within 2 s.
_ATTEMPT_OBJECTS = 100
_WITHIN_2_S = Goal(bound=Bound.OURS_AT_MOST, limit=2)

_200_A_SECOND = Goal(bound=Bound.OURS_AT_LEAST, limit=200)


def measure(bench: Workbench) -> Part:
    """Sweep namespaces of every size on a cluster of their own."""
    with (
        bench.cluster(PART) as cluster,
        closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client,
    ):
        bench.say(f"{PART}: namespaces of {', '.join(map(str, sweep.SIZES))} objects")
        result = sweep.measure(client, repeats=min(bench.repeats, _MOST_REPEATS))
    return Part(figures=figures_of(result), detail=result)


def figures_of(result: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Return the figures of `sweep.measure`'s result. Pure.

    The rate of a small namespace is that of the margin which every sweep waits, so the rate is the
    largest one's; growth is seconds over seconds of two sizes, over objects over objects: 1 where
    every object takes as long, more where many are slower than few.
    """
    sizes = sorted(result["sizes"], key=lambda size: int(size["objects"]))
    seconds = tuple(
        alone(
            PART,
            f"{size['objects']:,} objects",
            ours=size["seconds"],
            goal=_WITHIN_2_S if size["objects"] == _ATTEMPT_OBJECTS else None,
        )
        for size in sizes
    )
    largest = sizes[-1]
    rate = alone(
        PART,
        f"rate at {largest['objects']:,} objects",
        ours=[largest["objects"] / one for one in largest["seconds"]],
        unit="objects/s",
        goal=_200_A_SECOND,
    )
    growth = tuple(
        alone(
            PART,
            f"growth from {few['objects']:,} to {many['objects']:,}",
            ours=[many["median_s"] / few["median_s"] / (many["objects"] / few["objects"])],
            unit="",
            goal=Goal(bound=Bound.OURS_AT_MOST, limit=1),
        )
        for few, many in itertools.pairwise(sizes)
    )
    return (*seconds, rate, *growth)
