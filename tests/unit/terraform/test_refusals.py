"""Where a refusal points, and what it says to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.terraform.declarations import Declaration
from harness.terraform.diagnostics import Diagnostic
from harness.terraform.refusals import refusal

_DIR = Path("/stacks/world")
_DECLARED = [
    Declaration(
        name=name,
        path=_DIR / "variables.tf",
        line=line,
        sensitive=False,
        ephemeral=name == "second",
    )
    for name, line in (("first", 3), ("second", 9))
]


_FILE = "variables.tf"
_VALUES = "vars.tfvars.json"
_ASKING = "zz-effective-values.tf.json"
_OTHER = "give 'second' another value"


@pytest.mark.parametrize(
    ("summary", "detail", "place", "expected", "hint"),
    [
        ("Unclear", "", (_VALUES, 4), f"{_DIR}/{_FILE}:1: unclear", "correct the file"),
        (
            "Bad",
            "Odd one.",
            (_FILE, 7),
            f"{_DIR}/{_FILE}:7: variable 'first': odd one",
            "correct the file",
        ),
        (
            "Invalid value for variable",
            "Too hot.\n\nThis was checked by the validation rule at my vars.tf:11,3-13.",
            (_VALUES, 1),
            f"{_DIR}/my vars.tf:11: variable 'second': too hot",
            _OTHER,
        ),
        (
            "Required variable not set",
            (
                "The given value is not suitable for var.second defined at variables.tf:9,1-13: "
                "required variable may not be set to null."
            ),
            (_VALUES, 2),
            (
                f"{_DIR}/{_FILE}:9: variable 'second': the value does not fit: "
                "required variable may not be set to null"
            ),
            _OTHER,
        ),
        (
            "Invalid value for input variable",
            (
                "The given value is not suitable for var.second, which is sensitive: a number is "
                "required. Invalid value defined at /tmp/copy/vars.tfvars.json:12,13-22."
            ),
            (_VALUES, 12),
            f"{_DIR}/{_FILE}:9: variable 'second': the value does not fit: a number is required",
            _OTHER,
        ),
        (
            "Duplicate variable declaration",
            'A variable named "second" was already declared at variables.tf:9,1-13.',
            ("main.tf", 12),
            (
                f"{_DIR}/main.tf:12: variable 'second': a variable named \"second\" was already "
                "declared at variables.tf:9,1-13"
            ),
            "correct the file",
        ),
        (
            "Invalid output value",
            "The value that was generated for the output is ephemeral, but it is not configured.",
            (_ASKING, 3),
            f"{_DIR}/{_FILE}:9: variable 'second': it is ephemeral, so no plan holds its value",
            "declare it sensitive instead",
        ),
        (
            "Reference to undeclared resource",
            'A data resource "x" "y" has not been declared in the root module.',
            (_FILE, 11),
            (
                f"{_DIR}/{_FILE}:11: variable 'second': what it refers to is no variable and "
                'no local: A data resource "x" "y" has not been declared in the root module'
            ),
            "move the check into a precondition or a check block",
        ),
    ],
)
def test_a_refusal_points_at_the_declaration(
    summary: str, detail: str, place: tuple[str, int], expected: str, hint: str
) -> None:
    expression = "var.second.part" if "hot" in detail else None
    diagnostic = Diagnostic(
        severity="error",
        summary=summary,
        detail=detail,
        path=place[0],
        line=place[1],
        expression=expression,
    )

    refused = refusal(_DIR, _DECLARED, diagnostic)

    assert str(refused) == expected
    assert refused.hint == hint
