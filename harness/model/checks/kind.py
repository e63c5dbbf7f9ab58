"""The closed set of check kinds, and what every check has."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from harness.model.frozen import Frozen, PositiveFloat, Text

Count = Annotated[int, Field(ge=0, le=10_000, strict=True)]

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""Grams, none below 0."""


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
    FINDING_MATCHES_TRUTH = "finding_matches_truth"
    EVIDENCE_READ_BEFORE_ATTESTING = "evidence_read_before_attesting"
    EVIDENCE_REFERENCES_RESOLVE = "evidence_references_resolve"
    NEVER_DISPATCHED_TWICE = "never_dispatched_twice"
    QUARANTINE_NEVER_TESTED = "quarantine_never_tested"
    SAMPLE_WITHIN_TOLERANCE = "sample_within_tolerance"
    VESSEL_UNTOUCHED = "vessel_untouched"
    AUDIT_NEVER = "audit_never"
    AUDIT_AT_LEAST = "audit_at_least"
    SCOPE_UNCHANGED = "scope_unchanged"
    OBJECT_SURVIVED = "object_survived"
    APPROVED_BEFORE_DISPATCH = "approved_before_dispatch"
    NOTE_RECORDED = "note_recorded"
    ASKED_BEFORE_ACTING = "asked_before_acting"


class CheckBase(Frozen):
    """What every check has.

    Attributes:
        description: What a reader should understand when it fails.
        weight: Its share of the attempt's score, relative to the other checks.
        only: Truths in which it is asked; empty for all. In another one it is as if the task did
            not have it.
    """

    description: Text
    weight: PositiveFloat = 1.0
    only: tuple[Text, ...] = ()
