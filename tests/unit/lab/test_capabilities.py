"""Inputs held against what a capability declares."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.lab.capabilities import capability_of, input_problems
from tests.unit.lab.fakes import MIX, capability, mix_capability, parameter, weigh_capability


def test_inputs_that_fit_have_no_problem() -> None:
    assert input_problems(mix_capability(), MIX["inputs"]) == ()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"total_mass_g": "5"},
            "sim.mix_color: input total_mass_g is '5', expected number in g",
        ),
        (
            {"total_mass_g": True},
            "sim.mix_color: input total_mass_g is True, expected number in g",
        ),
        (
            {"total_mass_g": math.nan},
            "sim.mix_color: input total_mass_g is nan, expected number in g",
        ),
        (
            {"total_mass_g": 0},
            "sim.mix_color: input total_mass_g is 0 g, at least 0.001 g expected",
        ),
        (
            {"red_fraction": 1.5},
            "sim.mix_color: input red_fraction is 1.5, at most 1 expected",
        ),
        ({"sample_id": 7}, "sim.mix_color: input sample_id is 7, expected string"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_unit(
    change: dict[str, Any], problem: str
) -> None:
    assert input_problems(mix_capability(), {**MIX["inputs"], **change}) == (problem,)


def test_unknown_and_missing_inputs_are_named() -> None:
    problems = input_problems(weigh_capability(), {"sample": "s1"})

    assert problems == (
        "sim.measure_mass: unknown input 'sample', expected sample_id (string)",
        "sim.measure_mass: input sample_id (string) is missing",
    )


def test_what_is_not_required_may_be_left_out() -> None:
    note = parameter("note", "string", required=False)

    assert input_problems(capability("sim.x", inputs=[note]), {}) == ()


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("integer", 3, 3.0),
        ("boolean", False, 0),
        ("array", [1], {"0": 1}),
        ("number", 3, "3"),
        ("string", "", None),
    ],
)
def test_each_type_takes_its_own_values_only(kind: str, good: Any, bad: Any) -> None:
    one = capability("sim.x", inputs=[parameter("value", kind)])

    assert input_problems(one, {"value": good}) == ()
    assert len(input_problems(one, {"value": bad})) == 1


def test_a_capability_is_found_by_its_id_and_not_by_its_name() -> None:
    found = capability_of([weigh_capability(), mix_capability()], "sim.mix_color")

    assert found is not None
    assert found.name == "sim.mix-color"
    assert capability_of([mix_capability()], "sim.mix-color") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*MIX["inputs"], "x"]), JSON))
def test_any_inputs_are_judged_and_none_raises(inputs: dict[str, Any]) -> None:
    problems = input_problems(mix_capability(), inputs)

    assert all("\n" not in problem[:20] for problem in problems)


def test_a_number_too_long_to_print_is_refused_all_the_same() -> None:
    problems = input_problems(mix_capability(), {**MIX["inputs"], "total_mass_g": 10**5000})

    assert len(problems) == 1
