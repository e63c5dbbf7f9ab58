"""First match decides; nothing matching is a denial."""

from __future__ import annotations

from typing import Any

import pytest

from harness.lab.policy import PolicyDecision, Question, decide
from tests.unit.lab.fakes import policy

QUESTION = Question(
    capability="sim.mix_color",
    environment="simulation",
    operator="system:serviceaccount:lab-1:agent",
    risk_class="R1",
)


def test_the_first_rule_that_matches_decides() -> None:
    deny = {"id": "no", "effect": "deny", "capability": "sim.*", "reason": "closed"}
    lab = policy({"id": "yes", "effect": "allow"}, deny)

    assert decide([lab], QUESTION).effect == "allow"
    reversed_lab = policy(deny, {"id": "yes", "effect": "allow"})
    assert decide([reversed_lab], QUESTION) == PolicyDecision(
        effect="deny", rule="lab/no", reason="closed"
    )


def test_policies_are_read_in_the_order_of_their_names() -> None:
    late = policy({"id": "yes", "effect": "allow"}, name="b")
    early = policy({"id": "no", "effect": "deny"}, name="a")

    decision = decide([late, early], QUESTION)

    assert decision == PolicyDecision(effect="deny", rule="a/no", reason="denied by rule a/no")


def test_no_match_is_a_denial() -> None:
    assert decide([], QUESTION) == PolicyDecision(
        effect="deny", rule="", reason="no rule allows it"
    )


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ({"capability": "sim.mix_*"}, True),
        ({"capability": "sim.Mix_*"}, False),
        ({"environments": ["real", "sim*"]}, True),
        ({"environments": ["real"]}, False),
        ({"operators": ["*:agent"]}, True),
        ({"operators": ["agent"]}, False),
        ({"riskClasses": ["R0", "R1"]}, True),
        ({"riskClasses": ["*"]}, True),
        ({"riskClasses": ["R?"]}, False),
    ],
)
def test_every_selector_must_match(selector: dict[str, Any], *, matches: bool) -> None:
    rule = {"id": "one", "effect": "allow", **selector}

    decision = decide([policy(rule)], QUESTION)

    assert decision.denied is not matches
