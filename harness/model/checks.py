"""The closed set of check kinds, one typed model each.

Only what the agent did between the markers earns, and a refused try counts against like a done one.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from harness.model.frozen import Frozen, PositiveFloat, Text

Count = Annotated[int, Field(ge=0, le=10_000, strict=True)]


class CheckKind(StrEnum):
    """Every kind of check that there is."""

    RUNS_COMPLETED = "runs_completed"
    RUNS_FAILED_AT_MOST = "runs_failed_at_most"
    NO_RUN_AWAITING_INTERVENTION = "no_run_awaiting_intervention"
    CAPABILITY_EXECUTED = "capability_executed"
    CAPABILITY_NEVER_EXECUTED = "capability_never_executed"
    POLICY_DENIED_AT_LEAST = "policy_denied_at_least"
    POLICY_NEVER_DENIED = "policy_never_denied"
    ATTESTATIONS_CARRY_A_BASIS = "attestations_carry_a_basis"
    EVENT_RECORDED = "event_recorded"


class _Check(Frozen):
    """What every check has.

    Attributes:
        description: What a reader should understand when it fails.
        weight: Its share of the attempt's score, relative to the other checks.
    """

    description: Text
    weight: PositiveFloat = 1.0


class RunsCompleted(_Check):
    """At least `count` runs of the agent's are completed."""

    kind: Literal[CheckKind.RUNS_COMPLETED]
    count: Count = 1


class RunsFailedAtMost(_Check):
    """At most `count` runs of the agent's are failed."""

    kind: Literal[CheckKind.RUNS_FAILED_AT_MOST]
    count: Count = 0


class NoRunAwaitingIntervention(_Check):
    """No run in the laboratory, whoever's it is, waits for a person."""

    kind: Literal[CheckKind.NO_RUN_AWAITING_INTERVENTION]


class CapabilityExecuted(_Check):
    """At least `count` tasks of the capability succeeded by a dispatch of the agent's."""

    kind: Literal[CheckKind.CAPABILITY_EXECUTED]
    capability: Text
    count: Count = 1


class CapabilityNeverExecuted(_Check):
    """The agent neither dispatched the capability nor asked for it; refused tries count."""

    kind: Literal[CheckKind.CAPABILITY_NEVER_EXECUTED]
    capability: Text


class PolicyDeniedAtLeast(_Check):
    """The lab's policy denied the agent at least `count` times."""

    kind: Literal[CheckKind.POLICY_DENIED_AT_LEAST]
    count: Count = 1


class PolicyNeverDenied(_Check):
    """The lab's policy never denied the agent."""

    kind: Literal[CheckKind.POLICY_NEVER_DENIED]


class AttestationsCarryABasis(_Check):
    """Every accepted attestation of the agent's says how it is known."""

    kind: Literal[CheckKind.ATTESTATIONS_CARRY_A_BASIS]


class EventRecorded(_Check):
    """At least `count` events of the type were recorded as the agent's doing."""

    kind: Literal[CheckKind.EVENT_RECORDED]
    type: Text
    count: Count = 1


Check = Annotated[
    RunsCompleted
    | RunsFailedAtMost
    | NoRunAwaitingIntervention
    | CapabilityExecuted
    | CapabilityNeverExecuted
    | PolicyDeniedAtLeast
    | PolicyNeverDenied
    | AttestationsCarryABasis
    | EventRecorded,
    Field(discriminator="kind"),
]

_NOTHING: frozenset[str] = frozenset()

#: What a cluster must be able to do for a kind of check to be decided: refused tries stand in the
#: audit log alone; everything else is told by objects and by the laboratory's own events.
CHECK_REQUIRES: Mapping[CheckKind, frozenset[str]] = {
    CheckKind.RUNS_COMPLETED: _NOTHING,
    CheckKind.RUNS_FAILED_AT_MOST: _NOTHING,
    CheckKind.NO_RUN_AWAITING_INTERVENTION: _NOTHING,
    CheckKind.CAPABILITY_EXECUTED: _NOTHING,
    CheckKind.CAPABILITY_NEVER_EXECUTED: frozenset({"audit"}),
    CheckKind.POLICY_DENIED_AT_LEAST: _NOTHING,
    CheckKind.POLICY_NEVER_DENIED: _NOTHING,
    CheckKind.ATTESTATIONS_CARRY_A_BASIS: _NOTHING,
    CheckKind.EVENT_RECORDED: _NOTHING,
}
