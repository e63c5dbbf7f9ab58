"""Seconds by phase of several kinds of cluster, side by side, from reports of runs. Pure.

Owns the figures and how they read; refuses to run anything. Called by `benchmarks.phases`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, get_args

from harness.model.evidence import PhaseName

#: Phases of an attempt, in their order.
PHASES: tuple[str, ...] = get_args(PhaseName)

#: Rows beside the phases.
CLUSTER_UP = "cluster up"
CLUSTER_DOWN = "cluster down"
ATTEMPT = "attempt"

_NOTHING = "-"


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


def table_lines(clusters: Mapping[str, Measured]) -> tuple[str, ...]:
    """Return the table; with two clusters or more, the last column is the last over the first."""
    columns = {name: medians(measured) for name, measured in clusters.items()}
    first, *others = columns.values()
    names = [*columns, *([f"{list(columns)[-1]}/{next(iter(columns))}"] if others else [])]
    rows = [["seconds", *names]]
    for row in first:
        ratio = [_ratio(others[-1][row], first[row])] if others else []
        rows.append([row, *(f"{column[row]:.2f}" for column in columns.values()), *ratio])
    return tuple(_line(cells, names) for cells in rows)


def to_json(clusters: Mapping[str, Measured]) -> dict[str, Any]:
    """Return the same for a machine: per kind of cluster the medians, and every attempt."""
    return {
        name: {"median_seconds": medians(measured), "attempts": [*map(dict, measured.attempts)]}
        for name, measured in clusters.items()
    }


def _ratio(value: float, of: float) -> str:
    return f"{value / of:.1f}" if of > 0 else _NOTHING


def _line(cells: Sequence[str], names: Sequence[str]) -> str:
    widths = [max(len(name), 8) for name in names]
    numbers = (cell.rjust(width) for cell, width in zip(cells[1:], widths, strict=True))
    return "  ".join((cells[0].ljust(len(CLUSTER_DOWN)), *numbers))
