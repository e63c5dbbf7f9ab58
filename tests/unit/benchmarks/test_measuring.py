"""Programs of a measurement: only one that did all it must is a figure."""

from __future__ import annotations

import pytest

from benchmarks.measuring import MeasurementError, alternating, printed, succeeded
from harness.core.process import Finished


def _finished(
    *, returncode: int = 0, stdout: str = "", stderr: str = "", timed_out: bool = False
) -> Finished:
    return Finished(
        argv=("chainsaw",),
        returncode=returncode,
        stdout=stdout,
        stderr=stderr,
        duration_s=120.4,
        timed_out=timed_out,
        survivors=0,
    )


def test_a_program_that_ended_well_is_a_measurement() -> None:
    finished = _finished()

    assert succeeded("chainsaw", finished) is finished


def test_a_code_that_comes_with_a_result_is_a_measurement_too() -> None:
    finished = _finished(returncode=1)

    assert succeeded("a run", finished, codes=(0, 1)) is finished


def test_a_program_that_failed_is_none_and_what_it_said_last_is_told() -> None:
    with pytest.raises(MeasurementError) as caught:
        succeeded("chainsaw", _finished(returncode=3, stderr="x" * 600 + " no cluster\n"))

    assert caught.value.message == f"chainsaw exited 3: {'x' * 489} no cluster"


def test_where_a_failed_program_wrote_no_error_its_output_is_told() -> None:
    with pytest.raises(MeasurementError, match=r"^chainsaw exited 1: FAIL$"):
        succeeded("chainsaw", _finished(returncode=1, stdout="FAIL\n"))


def test_a_program_whose_time_was_up_is_none() -> None:
    with pytest.raises(MeasurementError, match=r"^chainsaw was ended after 120 s$"):
        succeeded("chainsaw", _finished(timed_out=True))


def test_what_a_program_printed_is_read_as_json() -> None:
    assert printed("one start", _finished(stdout='{"ready_s": 3.1}\n')) == {"ready_s": 3.1}


def test_a_program_that_printed_something_else_is_no_measurement() -> None:
    with pytest.raises(MeasurementError, match=r"^one start printed no JSON: 'ready'$"):
        printed("one start", _finished(stdout="ready"))


def test_the_side_that_was_first_is_last_in_the_next_round() -> None:
    sides = (lambda number: f"ours {number}", lambda number: f"theirs {number}")

    taken = list(alternating(sides, 3))

    assert taken == [
        (0, "ours 1"),
        (1, "theirs 1"),
        (1, "theirs 2"),
        (0, "ours 2"),
        (0, "ours 3"),
        (1, "theirs 3"),
    ]
