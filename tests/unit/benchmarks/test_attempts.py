"""Seconds by phase: medians, and what must not be measured."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.attempts import PHASES, Measured, attempts_of, medians, phase_figures


def _report(
    *, status: str = "passed", error: str | None = None, **seconds: float
) -> dict[str, Any]:
    attempt = {"status": status, "error": error, "seconds": seconds}
    return {"tasks": [{"id": "mix-and-measure", "attempts": [attempt], "not_runnable": None}]}


def _measured(*acts_s: float, up_s: float = 10.0) -> Measured:
    return Measured(
        up_s=up_s,
        down_s=1.0,
        attempts=tuple({**dict.fromkeys(PHASES, 0.5), "act": act_s} for act_s in acts_s),
    )


def test_a_phase_takes_the_median_of_its_attempts() -> None:
    rows = medians(_measured(1.0, 9.0, 2.0))

    assert rows["act"] == 2.0
    assert rows["sweep"] == 0.5


def test_an_attempt_takes_the_median_of_whole_attempts() -> None:
    rows = medians(_measured(1.0, 9.0, 2.0))

    assert rows["attempt"] == 2.0 + 7 * 0.5


def test_two_clusters_stand_side_by_side_row_by_row() -> None:
    figures = phase_figures(
        "phases", ours=_measured(1.0, up_s=4.0), peer=_measured(2.5, up_s=50.0), peer_name="kind"
    )

    assert [figure.name for figure in figures] == [
        "cluster up",
        *PHASES,
        "attempt",
        "cluster down",
    ]
    assert (figures[0].ours, figures[0].peer, figures[0].ratio) == (4.0, 50.0, 0.08)
    assert {figure.peer_name for figure in figures} == {"kind"}


def test_seconds_are_those_of_the_report() -> None:
    attempts = attempts_of(_report(act=1.5, sweep=2.0))

    assert attempts == ({"act": 1.5, "sweep": 2.0},)


def test_an_attempt_that_did_not_pass_is_not_measured() -> None:
    with pytest.raises(ValueError, match=r"^mix-and-measure: infra_error: apply was killed$"):
        attempts_of(_report(status="infra_error", error="apply was killed", act=1.5))


def test_a_task_that_was_not_run_is_not_measured() -> None:
    report = {
        "tasks": [{"id": "mix-and-measure", "attempts": [], "not_runnable": "no audit log"}],
    }

    with pytest.raises(ValueError, match=r"^mix-and-measure: no attempt: no audit log$"):
        attempts_of(report)
