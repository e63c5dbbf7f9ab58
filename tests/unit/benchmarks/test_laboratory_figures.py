"""What the laboratory's figures show of what was measured."""

from __future__ import annotations

from benchmarks.admission import Creates, paced, review_body
from benchmarks.laboratory_figures import figures_of
from harness.core.waiting import SYSTEM_CLOCK
from harness.lab.admission import Path, parse_review
from tests.unit.core.fakes import FakeClock


def test_goals_are_about_the_slowest_decision_in_a_hundred_and_the_middle_of_the_rest() -> None:
    slow = [1.0] * 95 + [9.0] * 5

    decision, middle, late, added, lag = figures_of(
        slow, [3.0, 4.0, 50.0], Creates(hooked_ms=[9.0, 10.0], bare_ms=[3.0, 4.0]), [20.0, 120.0]
    )

    assert (round(decision.ours, 2), decision.met) == (9.0, False)
    assert (middle.ours, middle.met) == (4.0, None)
    assert late.ours > 4.0
    assert (added.ours, added.met) == (6.0, True)
    assert (lag.ours, lag.met) == (70.0, True)


def test_what_comes_late_behind_a_slow_one_counts_as_late() -> None:
    clock = FakeClock()

    taken = paced(
        lambda number: clock.sleep(0.0 if number else 0.05),
        rate=200,
        count=4,
        threads=1,
        clock=clock,
    )

    assert [round(one) for one in taken] == [50, 45, 40, 35]


def test_the_review_that_is_sent_is_one_that_the_webhook_understands() -> None:
    request = parse_review(
        Path.VALIDATE, review_body("lab-1", "bench-1"), now=SYSTEM_CLOCK.now(), harness_user=""
    )

    assert request is not None
    assert (request.kind, request.name) == ("LabRun", "bench-1")
