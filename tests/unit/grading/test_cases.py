"""Each check kind, held against attempts that differ by one step."""

from __future__ import annotations

import pytest

from harness.grading.checks import judge
from harness.grading.scoring import grade
from harness.grading.view import view_of
from harness.model.checks import CheckKind
from tests.unit.grading import cases_requesting, cases_restraint, cases_settling, cases_work
from tests.unit.grading.case import Case
from tests.unit.grading.cases_scoring import GRADED, Graded, all_as_they_must, worth_of

CASES = (
    *cases_work.CASES,
    *cases_settling.CASES,
    *cases_restraint.CASES,
    *cases_requesting.CASES,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.check.kind}: {case.sentence}")
def test_a_check_shows_what_it_must(case: Case) -> None:
    found = judge(case.check, view_of(case.evidence))

    assert found.passed is case.holds, found.detail
    assert case.detail in (None, found.detail)


def test_every_kind_has_a_case_that_holds_and_one_that_does_not() -> None:
    shown = {(case.check.kind, case.holds) for case in CASES}

    assert shown == {(kind, holds) for kind in CheckKind for holds in (True, False)}


@pytest.mark.parametrize("one", GRADED, ids=lambda one: one.sentence)
def test_an_attempt_is_worth_what_it_must_be(one: Graded) -> None:
    assert worth_of(grade(one.evidence, "0" * 64)) == one.worth


def test_what_was_true_and_found_is_told_of_every_attempt() -> None:
    assert all_as_they_must()
