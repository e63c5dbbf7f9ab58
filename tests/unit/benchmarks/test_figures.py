"""One figure: the ratio of two sides, and whether a goal is met."""

from __future__ import annotations

import pytest

from benchmarks.figures import Bound, Figure, Goal, alone, side_by_side, to_json


def _figure(
    *, ours: float = 2.0, peer: float | None = 4.0, goal: tuple[Bound, float] | None = None
) -> Figure:
    return Figure(
        part="start",
        name="start to ready",
        unit="s",
        ours=ours,
        peer=peer,
        peer_name="envtest",
        goal=Goal(bound=goal[0], limit=goal[1]) if goal else None,
    )


def test_the_ratio_is_ours_over_the_peers() -> None:
    assert _figure(ours=2.0, peer=4.0).ratio == 0.5


@pytest.mark.parametrize("peer", [None, 0.0])
def test_without_a_peer_that_took_something_there_is_no_ratio(peer: float | None) -> None:
    assert _figure(peer=peer).ratio is None


@pytest.mark.parametrize(
    ("bound", "at_the_limit", "beyond_it"),
    [
        (Bound.OURS_AT_MOST, 2.0, 2.01),
        (Bound.OURS_AT_LEAST, 2.0, 1.99),
    ],
)
def test_the_limit_is_good_enough_and_one_step_beyond_is_not(
    bound: Bound, at_the_limit: float, beyond_it: float
) -> None:
    assert _figure(ours=at_the_limit, goal=(bound, 2.0)).met is True
    assert _figure(ours=beyond_it, goal=(bound, 2.0)).met is False


def test_a_bound_on_the_ratio_looks_at_both_sides() -> None:
    goal = (Bound.RATIO_AT_MOST, 0.5)

    assert _figure(ours=2.0, peer=4.0, goal=goal).met is True
    assert _figure(ours=2.0, peer=3.9, goal=goal).met is False


def test_a_bound_on_a_ratio_that_is_not_there_is_missed() -> None:
    assert _figure(peer=None, goal=(Bound.RATIO_AT_MOST, 0.5)).met is False


def test_without_a_goal_nothing_is_met_or_missed() -> None:
    assert _figure().met is None


def test_two_series_give_their_medians_and_keep_every_value() -> None:
    figure = side_by_side("start", "stop", ours=[1, 9, 2], peer=[4, 4, 8], peer_name="envtest")

    assert (figure.ours, figure.peer) == (2, 4)
    assert figure.samples == {"ours": (1, 9, 2), "peer": (4, 4, 8)}


def test_one_series_has_no_peer() -> None:
    figure = alone("gate", "lag", ours=[1.0, 3.0], unit="ms")

    assert (figure.ours, figure.peer, figure.ratio) == (2.0, None, None)


def test_a_machine_gets_the_verdict_and_every_value() -> None:
    goal = Goal(bound=Bound.RATIO_AT_MOST, limit=1.0)

    value = to_json(
        side_by_side("start", "stop", ours=[1.0], peer=[4.0], peer_name="envtest", goal=goal)
    )

    assert value == {
        "part": "start",
        "name": "stop",
        "unit": "s",
        "ours": 1.0,
        "peer": 4.0,
        "peer_name": "envtest",
        "ratio": 0.25,
        "goal": "ratio at most 1",
        "met": True,
        "samples": {"ours": [1.0], "peer": [4.0]},
    }
