"""What a machine and a shell are told of cases."""

from __future__ import annotations

import pytest

from harness.cli.cases import as_json, counts, exit_code
from harness.model.spec import CaseResult, Verdict


def _cases(*verdicts: str) -> list[CaseResult]:
    return [
        CaseResult(
            spec="s", case=str(n), when="swept", namespace="x", verdict=Verdict(one), detail=""
        )
        for n, one in enumerate(verdicts)
    ]


def test_every_verdict_is_counted_also_those_that_nobody_had() -> None:
    found = as_json(_cases("held", "held", "unknown"))

    assert counts([]) == {"held": 0, "broken": 0, "unknown": 0}
    assert {**found, "cases": len(found["cases"])} == {
        "held": 2,
        "broken": 0,
        "unknown": 1,
        "cases": 3,
    }


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [(("held", "held"), 0), (("held", "broken"), 1), (("held", "unknown"), 1), ((), 1)],
)
def test_only_cases_that_all_hold_are_a_success(verdicts: tuple[str, ...], code: int) -> None:
    assert exit_code(_cases(*verdicts)) == code
