"""Who may have what executed: rules in order, the first match decides, no match is a denial.

Pure. Admission asks it so that it can warn, the controller asks it at every dispatch; neither has
rules of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from harness.model.lab import LabPolicy, PolicyRule

#: Why nothing may be done that no rule speaks of.
NO_RULE = "no rule allows it"

_VERBS = {"allow": "allowed", "deny": "denied", "require_approval": "left to an approval"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: may this be executed, here, for this user?

    Attributes:
        capability: Id of the capability.
        environment: Environment of the run.
        operator: User who answers for the dispatch.
        risk_class: Risk class of the capability.
    """

    capability: str
    environment: str
    operator: str
    risk_class: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDecision:
    """What was decided.

    Attributes:
        effect: What was decided; `require_approval` allows what somebody else has granted.
        rule: `POLICY/RULE` that decided, or empty when none matched.
        reason: The rule's own words, or ours.
    """

    effect: Literal["allow", "deny", "require_approval"]
    rule: str
    reason: str

    @property
    def denied(self) -> bool:
        """Whether it is a denial."""
        return self.effect == "deny"

    @property
    def needs_approval(self) -> bool:
        """Whether it waits for somebody else's decision."""
        return self.effect == "require_approval"


def decide(policies: Iterable[LabPolicy], question: Question) -> PolicyDecision:
    """Return the decision of the first rule that matches, policies sorted by name. Pure."""
    for policy in sorted(policies, key=lambda policy: policy.name):
        for rule in policy.spec.rules:
            if _matches(rule, question):
                name = f"{policy.name}/{rule.id}"
                reason = rule.reason or f"{_VERBS[rule.effect]} by rule {name}"
                return PolicyDecision(effect=rule.effect, rule=name, reason=reason)
    return PolicyDecision(effect="deny", rule="", reason=NO_RULE)


def _matches(rule: PolicyRule, question: Question) -> bool:
    return (
        fnmatchcase(question.capability, rule.capability)
        and any(fnmatchcase(question.environment, glob) for glob in rule.environments)
        and any(fnmatchcase(question.operator, glob) for glob in rule.operators)
        and any(found in ("*", question.risk_class) for found in rule.risk_classes)
    )


def separates_duties(policies: Iterable[LabPolicy]) -> bool:
    """Tell whether who asked for a call may not attest what became of it. Pure."""
    return any(policy.spec.separation_of_duties for policy in policies)
