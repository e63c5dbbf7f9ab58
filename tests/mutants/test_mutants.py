"""The cases of the checks tell every grader that is wrong by one step from the right one."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.mutants.hunt import FOLDER, MUTATED, ORDER, all_mutants, survivors
from tests.mutants.mutations import mutants
from tests.unit.grading.test_cases import CASES

#: Seconds: it takes 8 of one quiet core.
_TIMEOUT_S = 180


@pytest.mark.timeout(_TIMEOUT_S)
def test_every_wrong_grader_is_told_from_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    found = list(all_mutants())

    left = survivors(CASES, found)

    with capsys.disabled():
        print(f" killed {len(found) - len(left)} of {len(found)} wrong graders ", end="")  # noqa: T201 - the kill rate is shown
    assert [str(mutant) for mutant in left] == []
    assert {mutant.module for mutant in found} == set(MUTATED)


def test_a_grader_that_no_case_looks_at_is_found() -> None:
    found = list(islice(all_mutants(), 20))

    assert survivors((), found) == found


def test_every_module_that_decides_is_mutated() -> None:
    there = {path.stem for path in FOLDER.glob("[a-z]*.py")}

    assert there - {"bundle", "statistics"} == set(ORDER)


def test_each_way_of_being_wrong_is_made() -> None:
    source = (
        "def f(a, b):\n    return a.uid == b.uid and a.code < 400 and any(a.writes for _ in b)\n"
    )

    ways = {mutant.way for mutant in mutants("f", source)}

    assert ways == {"negate", "off by one", "ignore UID", "accept empty", "ignore refused"}


def test_a_module_is_as_it_was_after_a_hunt() -> None:
    found = list(islice(all_mutants(), 5))

    survivors(CASES[:3], found)

    assert survivors((), found) == found
