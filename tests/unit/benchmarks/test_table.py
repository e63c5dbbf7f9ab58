"""Figures as a table, side by side."""

from __future__ import annotations

import pytest

from benchmarks.figures import Bound, Figure, Goal, alone, side_by_side
from benchmarks.table import missed, number, table_lines


def _start(*, ours: float, limit: float = 1.0) -> Figure:
    goal = Goal(bound=Bound.RATIO_AT_MOST, limit=limit)
    return side_by_side(
        "start", "start to ready", ours=[ours], peer=[4.0], peer_name="envtest", goal=goal
    )


def test_each_figure_is_a_line_with_ours_the_peers_and_the_verdict() -> None:
    rate = Goal(bound=Bound.OURS_AT_LEAST, limit=200)

    lines = table_lines(
        [
            _start(ours=3.0),
            _start(ours=5.0),
            alone("sweep", "rate", ours=[350.4], unit="objects/s", goal=rate),
            alone("sweep", "100 objects", ours=[0.5]),
        ],
        {},
    )

    assert lines == (
        "part   figure          unit       ours  theirs  whose    ratio  goal               met",
        "start  start to ready  s             3       4  envtest   0.75  ratio at most 1    yes",
        "start  start to ready  s             5       4  envtest   1.25  ratio at most 1    NO",
        "sweep  rate            objects/s   350       -  -            -  ours at least 200  yes",
        "sweep  100 objects     s          0.50       -  -            -  -                  -",
    )


def test_a_part_that_failed_is_shown_with_its_reason() -> None:
    lines = table_lines([_start(ours=3.0)], {"gate": "no cluster"})

    assert lines[-1] == "gate failed: no cluster"


def test_where_every_part_failed_there_is_no_empty_table() -> None:
    assert table_lines([], {"gate": "no cluster"}) == ("gate failed: no cluster",)


def test_only_a_goal_that_is_there_can_be_missed() -> None:
    slow, quick, free = _start(ours=5.0), _start(ours=3.0), alone("start", "stop", ours=[9.0])

    assert missed([slow, quick, free]) == (slow,)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.0312, "0.03"),
        (2.994, "2.99"),
        (12.34, "12.3"),
        (350.4, "350"),
        (1e5, "100000"),
    ],
)
def test_a_number_has_the_digits_that_count(value: float, text: str) -> None:
    assert number(value) == text
