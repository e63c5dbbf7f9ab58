"""Seconds by phase, side by side: medians, ratios, and what must not be measured."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.table import Measured, attempts_of, medians, table_lines, to_json


def _report(status: str = "passed", **seconds: float) -> dict[str, Any]:
    attempt = {"status": status, "error": None, "seconds": seconds}
    return {"tasks": [{"id": "mix", "attempts": [attempt], "not_runnable": None}]}


def _measured(*provision: float) -> Measured:
    return Measured(up_s=4.0, down_s=0.5, attempts=tuple({"provision": one} for one in provision))


def test_a_phase_is_the_median_over_the_attempts() -> None:
    found = medians(_measured(1.0, 9.0, 2.0))

    assert (found["provision"], found["attempt"], found["setup"]) == (2.0, 2.0, 0.0)
    assert next(iter(found)) == "cluster up"
    assert list(found)[-1] == "cluster down"


def test_the_last_column_is_the_last_cluster_over_the_first() -> None:
    lines = table_lines({"embedded": _measured(2.0), "kind": _measured(5.0)})

    cells = {line.split("  ")[0].strip(): line.split()[-3:] for line in lines}
    assert cells["seconds"] == ["embedded", "kind", "kind/embedded"]
    assert cells["provision"] == ["2.00", "5.00", "2.5"]
    assert cells["setup"] == ["0.00", "0.00", "-"]
    assert len({len(line) for line in lines}) == 1


def test_one_cluster_alone_has_no_ratio() -> None:
    assert table_lines({"kind": _measured(2.0)})[0].split() == ["seconds", "kind"]


def test_every_attempt_is_kept_for_a_machine() -> None:
    found = to_json({"kind": _measured(1.0, 3.0)})

    assert found["kind"]["attempts"] == [{"provision": 1.0}, {"provision": 3.0}]
    assert found["kind"]["median_seconds"]["provision"] == 2.0


def test_the_seconds_of_an_attempt_that_passed_are_measured() -> None:
    assert attempts_of(_report(act=1.0)) == ({"act": 1.0},)


def test_an_attempt_that_failed_says_nothing_about_its_cluster() -> None:
    with pytest.raises(ValueError, match="mix: failed: a check failed"):
        attempts_of(_report("failed", act=1.0))


def test_a_task_that_was_not_run_says_nothing_about_its_cluster() -> None:
    report = {"tasks": [{"id": "mix", "attempts": [], "not_runnable": "no audit"}]}

    with pytest.raises(ValueError, match="mix: no attempt: no audit"):
        attempts_of(report)
