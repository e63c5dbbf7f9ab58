"""Seconds by phase, side by side: medians, ratios, and what must not be measured."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.table import PHASES, Measured, attempts_of, medians, table_lines, to_json


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


def test_two_clusters_stand_side_by_side_with_their_ratio() -> None:
    lines = table_lines({"embedded": _measured(1.0, up_s=4.0), "kind": _measured(2.5, up_s=50.0)})

    assert lines[0] == "seconds       embedded      kind  kind/embedded"
    assert lines[1] == "cluster up        4.00     50.00           12.5"
    assert lines[5] == "act               1.00      2.50            2.5"
    assert [line.split("  ")[0] for line in lines[1:]] == [
        "cluster up",
        *PHASES,
        "attempt",
        "cluster down",
    ]
    assert len({len(line) for line in lines}) == 1


def test_one_cluster_alone_has_no_ratio() -> None:
    lines = table_lines({"kind": _measured(2.5)})

    assert lines[0] == "seconds           kind"


def test_nothing_has_no_ratio_to_anything() -> None:
    lines = table_lines({"embedded": _measured(0.0), "kind": _measured(2.5)})

    assert lines[5].endswith("-")


def test_a_machine_gets_every_attempt_beside_the_medians() -> None:
    value = to_json({"kind": _measured(1.0, 3.0)})

    assert value["kind"]["median_seconds"]["act"] == 2.0
    assert [attempt["act"] for attempt in value["kind"]["attempts"]] == [1.0, 3.0]


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
