"""Stories as their files say them: one verb an act, one thing a trigger, and what each needs."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from harness.model.story import Act, Trigger
from harness.model.verbs import INTERRUPTION_REQUIRES, Interruption


@pytest.mark.parametrize(
    ("act", "problem"),
    [
        ({}, "found none"),
        ({"cancel": {"run": "a"}, "hold": {"instrument": "b"}}, "found cancel, hold"),
        ({"cancel": {"run": "a"}, "by": "somebody"}, "by"),
        ({"dance": {}}, "dance"),
    ],
)
def test_an_act_is_one_verb_of_the_closed_set(act: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Act.model_validate(act)


def test_an_act_is_the_previous_operators_where_nothing_is_said() -> None:
    act = Act.model_validate({"cancel": {"run": "a"}})

    assert (act.by, act.verbs, act.only) == ("previous-operator", ("cancel",), ())


@pytest.mark.parametrize(
    "trigger",
    [
        {},
        {"reason": "a"},
        {"capability": "sim.mix_color"},
        {"event": "TaskFailed", "touched": "a"},
        {"created": "labruns", "looked": True},
        {"looked": False},
    ],
)
def test_a_trigger_is_one_thing_that_the_agent_did(trigger: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Trigger.model_validate(trigger)


@pytest.mark.parametrize(
    "trigger",
    [
        {"event": "TaskFailed", "reason": "approval_expired", "capability": "sim.mix_color"},
        {"created": "labruns", "capability": "sim.mix_color"},
        {"touched": "a"},
        {"looked": True},
    ],
)
def test_what_belongs_to_that_thing_may_be_said_beside(trigger: dict[str, Any]) -> None:
    assert Trigger.model_validate(trigger).model_dump(exclude_defaults=True) == trigger


def test_each_kind_of_interruption_says_what_it_needs() -> None:
    kinds = get_args(Interruption.model_fields["kind"].annotation)

    assert set(INTERRUPTION_REQUIRES) == set(kinds)
