"""What would not come back from an engine as it was given, and the other way round."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from harness.terraform.exactness import (
    exact_decoder,
    inexact_places,
    lost_attributes,
    unstorable_reasons,
)

_OBJECT = ["object", {"a": "number", "é": ["object", {"x": "string"}]}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9007199254740993", 9007199254740993),
        ("0.1", 0.1),
        ("1" + "0" * 30, 10**30),
        ("0.333333333333333333333", Decimal("0.333333333333333333333")),
        ("0." + "0" * 400 + "1", Decimal("1e-401")),
        ("1" * 5000, Decimal("1" * 5000)),
    ],
)
def test_a_number_is_read_to_its_last_digit(text: str, expected: Any) -> None:
    value = exact_decoder().decode(text)

    assert (type(value), value) == (type(expected), expected)


def test_what_no_float_can_hold_is_named_by_its_place() -> None:
    value = exact_decoder().decode('{"a": [0.5, {"b": 0.10000000000000000001}], "c": 7}')

    assert list(inexact_places(value, "v")) == ["v.a[1].b"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": [1, 2.5, True, None, "\U0001f389"], "e\u0301": {}}, []),
        ((1, "x"), []),
        (float("nan"), ["v is not a finite number"]),
        ([float("-inf")], ["v[0] is not a finite number"]),
        ({"a": object()}, ["v.a is not JSON"]),
        ({"a": {1: 2}}, ["v.a has a key that is not text"]),
        ({"é": 1, "e\u0301": 2}, ["v has two keys that are one in Unicode's composed form"]),
        ("half \ud83c", ["v holds half of a character"]),
        ({"\udf89": 1}, ["v has a key that holds half of a character"]),
    ],
)
def test_what_would_change_in_a_var_file_is_named(value: Any, expected: list[str]) -> None:
    assert list(unstorable_reasons(value, "v")) == expected


@pytest.mark.parametrize(
    ("given", "kind", "expected"),
    [
        ({"a": 1}, _OBJECT, []),
        ({"a": 1, "c": 2}, _OBJECT, ["v.c"]),
        ({"e\u0301": {"x": 1, "y": 2}}, _OBJECT, ["v.e\u0301.y"]),
        ({"any": {"c": 1}}, ["map", _OBJECT], ["v.any.c"]),
        ([[{"a": 2}], [{"b": 1}]], ["list", ["set", _OBJECT]], ["v[1][0].b"]),
        ([{"a": 1}, {"a": 1}], ["tuple", [_OBJECT, ["map", "number"]]], []),
        ([{"x": 1}, {"x": 1}], ["tuple", [_OBJECT, ["map", "number"]]], ["v[0].x"]),
        ([1, 2], ["tuple", ["number"]], []),
        ({"a": 1}, "dynamic", []),
        ("text", "number", []),
        (None, _OBJECT, []),
    ],
)
def test_an_attribute_that_the_type_does_not_have_is_lost(
    given: Any, kind: Any, expected: list[str]
) -> None:
    assert list(lost_attributes(given, kind, "v")) == expected
