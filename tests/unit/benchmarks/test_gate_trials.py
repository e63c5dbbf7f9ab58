"""What trials of the gate add up to."""

from __future__ import annotations

from typing import Any

from benchmarks.gate import Trial, lines_of, summary


def _trial(**changes: Any) -> Trial:
    value = {
        "fault": "hangs",
        "drawn": "",
        "out_of_order_s": 0.5,
        "repair_s": 0.01,
        "lag_s": 0.2,
        "false_opening": False,
        "relapses": 0,
        **changes,
    }
    return Trial(**value)


TRIALS = (
    _trial(),
    _trial(lag_s=0.4),
    _trial(fault="500", false_opening=True, lag_s=-0.3),
    _trial(fault="500", lag_s=None),
)


def test_false_openings_and_gates_that_never_opened_are_counted_by_fault_and_in_all() -> None:
    result = summary(TRIALS, seed=7)

    assert (result["seed"], result["trials"]) == (7, 4)
    assert (result["false_openings"], result["never_opened"]) == (1, 1)
    assert result["by_fault"]["hangs"]["false_openings"] == 0
    assert result["by_fault"]["500"]["false_openings"] == 1
    assert len(result["samples"]) == 4


def test_lags_are_of_the_gates_that_opened() -> None:
    result = summary(TRIALS[:2], seed=7)

    assert (result["lag_median_s"], result["lag_max_s"]) == (0.3, 0.4)
    assert summary(TRIALS[3:], seed=7)["lag_median_s"] is None


def test_the_table_has_a_line_for_each_fault_and_one_for_all() -> None:
    lines = lines_of(summary(TRIALS[:2], seed=7))

    assert [line.split()[0] for line in lines] == ["fault", "hangs", "all"]
    assert lines[1].split() == ["hangs", "2", "0", "0.3", "0.4"]
