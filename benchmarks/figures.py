"""One figure of a benchmark: ours, the peer's, the ratio of the two, and whether a goal is met.

Pure. Owns what a figure is and when it is good enough; refuses to measure. Made by every part,
read by the table and by the result file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median
from typing import Any


class Bound(StrEnum):
    """Which number of a figure a goal bounds, and from which side."""

    OURS_AT_MOST = "ours at most"
    OURS_AT_LEAST = "ours at least"
    RATIO_AT_MOST = "ratio at most"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What a figure should be; the limit itself is good enough."""

    bound: Bound
    limit: float

    def __str__(self) -> str:
        return f"{self.bound} {self.limit:.3g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the table.

    Attributes:
        part: Part of the benchmark that measured it.
        name: What was measured, unit left out.
        unit: For example `s`, `ms` or `objects/s`; empty for a number of things.
        ours: The median of ours.
        peer: The median of the peer's; None where there is nobody to compare with.
        peer_name: Who the peer is; empty without one.
        goal: What it should be; None where it is shown for information.
        samples: `ours` and `peer` to every single value, in the order of the measurement.
    """

    part: str
    name: str
    unit: str
    ours: float
    peer: float | None = None
    peer_name: str = ""
    goal: Goal | None = None
    samples: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """Ours over the peer's, so below 1 is the better where less is better; None without one."""
        return self.ours / self.peer if self.peer else None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none to meet."""
        if self.goal is None:
            return None
        if self.goal.bound is Bound.OURS_AT_LEAST:
            return self.ours >= self.goal.limit
        if self.goal.bound is Bound.OURS_AT_MOST:
            return self.ours <= self.goal.limit
        return self.ratio is not None and self.ratio <= self.goal.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one part of the benchmark found.

    Attributes:
        figures: Its lines of the table, in order.
        detail: What else is worth keeping, as JSON.
    """

    figures: tuple[Figure, ...]
    detail: Mapping[str, Any] = field(default_factory=dict)


def side_by_side(
    part: str,
    name: str,
    *,
    ours: Sequence[float],
    peer: Sequence[float],
    peer_name: str,
    unit: str = "s",
    goal: Goal | None = None,
) -> Figure:
    """Return the figure of two series: medians, every value kept."""
    return Figure(
        part=part,
        name=name,
        unit=unit,
        ours=median(ours),
        peer=median(peer),
        peer_name=peer_name,
        goal=goal,
        samples={"ours": tuple(ours), "peer": tuple(peer)},
    )


def alone(
    part: str, name: str, *, ours: Sequence[float], unit: str = "s", goal: Goal | None = None
) -> Figure:
    """Return the figure of one series that has no peer."""
    return Figure(
        part=part,
        name=name,
        unit=unit,
        ours=median(ours),
        goal=goal,
        samples={"ours": tuple(ours)},
    )


def to_json(figure: Figure) -> dict[str, Any]:
    """Return a figure for a machine: the medians, the verdict and every value behind them."""
    return {
        "part": figure.part,
        "name": figure.name,
        "unit": figure.unit,
        "ours": figure.ours,
        "peer": figure.peer,
        "peer_name": figure.peer_name or None,
        "ratio": figure.ratio,
        "goal": str(figure.goal) if figure.goal else None,
        "met": figure.met,
        "samples": {side: list(values) for side, values in figure.samples.items()},
    }
