"""What a case is: a sentence, a check, the evidence, and what must come of it.

The tables beside it are read twice: by test_cases.py, and by the mutants of tests/mutants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.model.checks import Check
from harness.model.evidence import Evidence
from tests.unit.grading.fixtures import check
from tests.unit.grading.story import Story


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case.

    Attributes:
        sentence: What it shows.
        holds: Whether the check holds.
        detail: The whole detail, where the wording is shown.
    """

    sentence: str
    check: Check
    evidence: Evidence
    holds: bool
    detail: str | None = None


def holds(
    sentence: str, told: Story | Evidence, kind: str, detail: str | None = None, **params: Any
) -> Case:
    """Return a case in which the check holds; further keywords are the check's."""
    return _case(sentence, told, kind, detail, params, passed=True)


def fails(
    sentence: str, told: Story | Evidence, kind: str, detail: str | None = None, **params: Any
) -> Case:
    """Return a case in which the check does not hold; further keywords are the check's."""
    return _case(sentence, told, kind, detail, params, passed=False)


def _case(
    sentence: str,
    told: Story | Evidence,
    kind: str,
    detail: str | None,
    params: dict[str, Any],
    *,
    passed: bool,
) -> Case:
    made = check(kind, **params)
    evidence = told.evidence(made) if isinstance(told, Story) else told
    return Case(sentence=sentence, check=made, evidence=evidence, holds=passed, detail=detail)
