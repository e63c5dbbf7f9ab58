"""Where a refusal points, and which attributes were lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.terraform.declarations import Declaration
from harness.terraform.diagnostics import Diagnostic
from harness.terraform.refusals import lost_attributes, refusal

_DIR = Path("/stacks/world")
_DECLARED = {
    name: Declaration(name=name, path=_DIR / "variables.tf", line=line, sensitive=False)
    for name, line in (("first", 3), ("second", 9))
}


@pytest.mark.parametrize(
    ("given", "effective", "expected"),
    [
        ({"a": 1}, {"a": 1, "b": None}, []),
        ({"a": 1, "c": 2}, {"a": 1}, ["v.c"]),
        ({"a": {"b": {"x": 1}}}, {"a": {"b": {}}}, ["v.a.b.x"]),
        ([{"a": 2}, {"a": 1}], [{"a": 1}, {"a": 2}], []),
        ([{"a": 2}, {"b": 1}], [{"a": 1}, {"a": 2}], ["v[1].b"]),
        ([1, 1], [1], []),
        ("text", 1, []),
        (None, {}, []),
    ],
)
def test_an_attribute_that_came_back_nowhere_is_lost(
    given: Any, effective: Any, expected: list[str]
) -> None:
    assert list(lost_attributes(given, effective, "v")) == expected


@pytest.mark.parametrize(
    ("diagnostic", "expected"),
    [
        (
            Diagnostic(
                severity="error", summary="Unclear", detail="", path="vars.tfvars.json", line=4
            ),
            "/stacks/world/variables.tf:1: unclear",
        ),
        (
            Diagnostic(
                severity="error", summary="Bad", detail="Odd one.", path="variables.tf", line=7
            ),
            "/stacks/world/variables.tf:7: variable 'first': odd one",
        ),
        (
            Diagnostic(
                severity="error",
                summary="Bad",
                detail="Too hot.\n\nThis was checked by the rule at variables.tf:11,3-13.",
                path="vars.tfvars.json",
                line=1,
            ),
            "/stacks/world/variables.tf:11: variable 'second': too hot",
        ),
        (
            Diagnostic(
                severity="error",
                summary="Ephemeral value not allowed",
                detail="",
                path="zz-effective-values.tf.json",
                line=2,
                expression="var.second.part",
            ),
            "/stacks/world/variables.tf:9: variable 'second': ephemeral value not allowed",
        ),
    ],
)
def test_a_refusal_points_at_the_declaration(diagnostic: Diagnostic, expected: str) -> None:
    assert str(refusal(_DIR, _DECLARED, diagnostic)) == expected
