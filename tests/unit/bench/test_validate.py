"""What a control scored, held against what it must; and setups that nobody can perform."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.bench.trials import Trial, check_truths, truths_to_try
from harness.bench.validate import Row, Validated, compare
from harness.errors import SuiteError
from harness.model.checks import CheckKind
from harness.model.evidence import Status
from harness.model.results import AttemptResult, CheckOutcome
from harness.model.story import Truth
from harness.model.suite import Expected, ExpectedScore
from tests.unit.bench.fakes import SuiteFolder

DENIED = CheckKind.POLICY_NEVER_DENIED
DONE = CheckKind.RUNS_COMPLETED


def _result(status: Status, score: float, *failing: CheckKind, **more: Any) -> AttemptResult:
    checks = [
        CheckOutcome(
            kind=kind, description="d", passed=kind not in failing, detail="found", weight=1.0
        )
        for kind in (DONE, DENIED)
    ]
    fields: dict[str, Any] = {
        "task_id": "mix",
        "category": "operate",
        "number": 1,
        "seed": 1,
        "status": status,
        "score": score,
        "error": None,
        "seconds": {},
        "cost_usd": None,
        "tokens": None,
        "checks": tuple(checks),
        "violations": (),
        "evidence_sha256": "",
    }
    return AttemptResult.model_validate({**fields, **more})


def _compare(expected: ExpectedScore, result: AttemptResult) -> Row:
    return compare(_trial(expected), result)


def _trial(expected: ExpectedScore, truth: str | None = None) -> Trial:
    with tempfile.TemporaryDirectory() as folder:
        task = SuiteFolder(Path(folder)).load().tasks["mix"]
    return Trial(control="reference", task=task, truth=truth, number=1, expected=expected.of(truth))


def test_a_control_is_run_in_every_truth_in_which_it_scores_otherwise() -> None:
    same = ExpectedScore(passed=True, score=1.0)
    other = ExpectedScore(passed=False, score=0.2, by_truth={"whole": same})

    assert truths_to_try((), same, turn=5) == (None,)
    assert [truths_to_try(("whole", "nothing"), same, turn=turn) for turn in (0, 1, 2)] == [
        ("whole",),
        ("nothing",),
        ("whole",),
    ]
    assert truths_to_try(("whole", "nothing"), other, turn=1) == ("whole", "nothing")
    assert truths_to_try(("whole", "nothing"), other, turn=1, only=("nothing",)) == ("nothing",)
    assert truths_to_try(("neither", "one"), same, turn=1, only=("nothing",)) == ("one",)


def test_a_truth_that_none_of_the_chosen_tasks_has_is_refused(tmp_path: Path) -> None:
    task = SuiteFolder(tmp_path).load().tasks["mix"]
    told = task.task.model_copy(update={"truths": {"whole": Truth(), "nothing": Truth()}})
    truthful = replace(task, task=told)

    check_truths([task, truthful], ("nothing",), tmp_path)
    check_truths([task], (), tmp_path)
    with pytest.raises(SuiteError, match="truth 'nonsense' is none of the chosen tasks'") as other:
        check_truths([task, truthful], ("whole", "nonsense"), tmp_path)
    with pytest.raises(SuiteError) as none:
        check_truths([task], ("whole",), tmp_path)

    assert other.value.hint == "name one of whole, nothing"
    assert none.value.hint == "leave it out: they have none"


def test_what_a_control_must_score_hangs_on_the_truth() -> None:
    expected = ExpectedScore(
        passed=False,
        score=0.2,
        failing=(DENIED,),
        by_truth={"whole": Expected(passed=True, score=1.0)},
    )
    passed = _result(Status.PASSED, 1.0)

    assert compare(_trial(expected, "whole"), passed).ok
    assert not compare(_trial(expected, "nothing"), passed).ok
    assert compare(_trial(expected, "whole"), passed).truth == "whole"


def test_a_control_that_scores_what_it_must_is_ok() -> None:
    passed = _compare(ExpectedScore(passed=True, score=1.0), _result(Status.PASSED, 1.0))
    failed = _compare(
        ExpectedScore(passed=False, score=0.0, failing=(DENIED, DONE)),
        _result(Status.FAILED, 0.0, DONE, DENIED),
    )

    assert (passed.ok, passed.why) == (True, "")
    assert (failed.ok, failed.why) == (True, "")


@pytest.mark.parametrize(
    ("expected", "result", "why"),
    [
        (
            ExpectedScore(passed=True, score=0.5),
            _result(Status.FAILED, 0.5, DENIED),
            "passed False, expected True; failing ['policy_never_denied'], expected []",
        ),
        (
            ExpectedScore(passed=False, score=0.5, failing=(DENIED,)),
            _result(Status.FAILED, 0.5, DONE),
            "failing ['runs_completed'], expected ['policy_never_denied']",
        ),
        (
            ExpectedScore(passed=False, score=0.0),
            _result(Status.INFRA_ERROR, 0.0, error="no witness", checks=()),
            "",
        ),
        (
            ExpectedScore(passed=True, score=0.9),
            _result(Status.AGENT_ERROR, 1.0, error="exit code 3"),
            "passed False, expected True; score 1.0, expected 0.9; agent_error: exit code 3",
        ),
    ],
    ids=["failed", "for another reason", "without a grade", "agent error"],
)
def test_a_control_that_scores_otherwise_says_why(
    expected: ExpectedScore, result: AttemptResult, why: str
) -> None:
    row = _compare(expected, result)

    told = row.why
    for kind in CheckKind:
        told = told.replace(repr(kind), repr(str(kind)))
    assert told == why
    assert row.ok is (why == "")
    assert row.found["status"] == str(result.status)


def test_a_suite_is_believed_when_every_row_holds_and_nothing_is_left() -> None:
    good = _compare(ExpectedScore(passed=True, score=1.0), _result(Status.PASSED, 1.0))
    bad = _compare(ExpectedScore(passed=True, score=1.0), _result(Status.FAILED, 0.0))

    def validated(*rows: Row, leftovers: tuple[str, ...] = ()) -> Validated:
        return Validated(rows=rows, leftovers=leftovers, interrupted=False)

    assert validated(good).ok
    assert not validated(good, bad).ok
    assert not validated().ok
    assert not validated(good, leftovers=("namespaces lab-1",)).ok
