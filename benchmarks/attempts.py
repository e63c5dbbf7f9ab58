"""Seconds by phase of attempts on one kind of cluster, from reports of runs. Pure.

Owns what of a report is measured; refuses to run anything. Called by `benchmarks.phases`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, get_args

from benchmarks.figures import Figure
from harness.model.evidence import PhaseName

#: Phases of an attempt, in their order.
PHASES: tuple[str, ...] = get_args(PhaseName)

#: Rows beside the phases.
CLUSTER_UP = "cluster up"
CLUSTER_DOWN = "cluster down"
ATTEMPT = "attempt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one kind of cluster took.

    Attributes:
        up_s: Seconds of `strandline provision`: cluster, platform and guard rails.
        down_s: Seconds of `strandline teardown`.
        attempts: Seconds by phase, of each attempt.
    """

    up_s: float
    down_s: float
    attempts: tuple[Mapping[str, float], ...]


def attempts_of(report: Mapping[str, Any]) -> tuple[Mapping[str, float], ...]:
    """Return the seconds of the attempts of a report.json; of a control, all must have passed.

    Raises:
        ValueError: One has not: what an attempt takes that fails says nothing about the cluster.
    """
    seconds = []
    for task in report["tasks"]:
        if not task["attempts"]:
            msg = f"{task['id']}: no attempt: {task['not_runnable'] or 'never begun'}"
            raise ValueError(msg)
        for attempt in task["attempts"]:
            if attempt["status"] != "passed":
                msg = f"{task['id']}: {attempt['status']}: {attempt['error'] or 'a check failed'}"
                raise ValueError(msg)
            seconds.append(attempt["seconds"])
    return tuple(seconds)


def medians(measured: Measured) -> dict[str, float]:
    """Return row to seconds, in the order of the table: medians over the attempts."""
    attempts = measured.attempts
    return {
        CLUSTER_UP: measured.up_s,
        **{phase: median(one.get(phase, 0.0) for one in attempts) for phase in PHASES},
        ATTEMPT: median(math.fsum(one.values()) for one in attempts),
        CLUSTER_DOWN: measured.down_s,
    }


def phase_figures(
    part: str, *, ours: Measured, peer: Measured, peer_name: str
) -> tuple[Figure, ...]:
    """Return one figure a row of the medians, two kinds of cluster side by side."""
    theirs = medians(peer)
    return tuple(
        Figure(
            part=part,
            name=row,
            unit="s",
            ours=value,
            peer=theirs[row],
            peer_name=peer_name,
        )
        for row, value in medians(ours).items()
    )
