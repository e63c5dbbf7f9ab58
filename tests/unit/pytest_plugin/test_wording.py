"""What a person reads of cases, one by one and together."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import SpecError
from harness.model.expect import Expect
from harness.model.spec import Request
from harness.pytest_plugin.wording import (
    error_text,
    expect_text,
    proves_nothing,
    request_text,
    summary_text,
)


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ({"refused": {"by": "rbac"}}, "refused by rbac"),
        (
            {"refused": {"by": "policy", "name": "p", "code": 403, "message": "only ci"}},
            "refused by policy:p with 403, saying 'only ci'",
        ),
        ("admitted", "admitted"),
        (
            {"admitted": {"fields": {"spec.a": 1}, "warning": "soon gone"}},
            "admitted with spec.a 1, a warning 'soon gone'",
        ),
        ("absent", "absent"),
        ({"count": 3}, "3 found"),
    ],
)
def test_what_must_come_of_a_request_is_said_in_words(expect: Any, said: str) -> None:
    assert expect_text(Expect.model_validate(expect)) == said


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"verb": "list", "resource": "pods"}, "list pods in shop"),
        ({"verb": "delete", "resource": "pods", "dry_run": False}, "delete pods in shop"),
        (
            {"verb": "create", "resource": "pods", "body": {"metadata": {"name": "a"}}},
            "create pods a in shop, dry run",
        ),
        (
            {"verb": "get", "resource": "pods", "name": "a", "namespace": "ci"},
            "get pods a in ci",
        ),
    ],
)
def test_a_request_is_said_in_words(request_: dict[str, Any], said: str) -> None:
    assert request_text(Request.model_validate(request_), "shop") == said


def test_an_error_is_told_with_its_hint() -> None:
    assert error_text(SpecError("a.yaml:3: unknown key", hint="remove it")) == (
        "a.yaml:3: unknown key\nhint: remove it"
    )
    assert error_text(SpecError("a.yaml:3: unknown key")) == "a.yaml:3: unknown key"


def test_verdicts_are_counted_on_one_line() -> None:
    found = ("held", "held", "broken", "not runnable", "unknown")

    assert summary_text(found, "kind") == (
        "strandline: 2 held, 1 broken, 1 unknown, 1 not runnable on kind"
    )


def test_what_came_to_no_verdict_is_counted_where_there_is_any() -> None:
    assert summary_text(("held", "without a verdict"), "kind").endswith(", 1 without a verdict")


@pytest.mark.parametrize(
    "verdicts", [("not runnable", "not runnable"), ("broken", "unknown"), ("without a verdict",)]
)
def test_cases_of_which_not_one_held_prove_nothing(verdicts: tuple[str, ...]) -> None:
    assert proves_nothing(verdicts)


@pytest.mark.parametrize("verdicts", [(), ("held", "not runnable"), ("broken", "held")])
def test_one_case_that_held_proves_something_and_no_case_was_never_asked_to(
    verdicts: tuple[str, ...],
) -> None:
    assert not proves_nothing(verdicts)
