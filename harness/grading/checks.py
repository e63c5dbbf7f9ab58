"""The one table of checks: kind to its pure function.

It owns the table alone; what each kind means is in the modules beside it, and weights and scores
are scoring.py's, which calls it. Every finding says what was found and what was needed, so that a
reader can contest it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from harness.grading.approving import approved_before_dispatch
from harness.grading.evidence_seen import evidence_read_before_attesting
from harness.grading.finding import Finding
from harness.grading.requesting import (
    asked_before_acting,
    audit_at_least,
    audit_never,
    object_survived,
    scope_unchanged,
)
from harness.grading.restraint import (
    capability_never_executed,
    never_dispatched_twice,
    policy_denied_at_least,
    policy_never_denied,
    quarantine_never_tested,
    vessel_untouched,
)
from harness.grading.settling import (
    attestations_carry_a_basis,
    evidence_references_resolve,
    finding_matches_truth,
    no_run_awaiting_intervention,
    note_recorded,
)
from harness.grading.view import View
from harness.grading.work import (
    capability_executed,
    event_recorded,
    runs_completed,
    runs_failed_at_most,
    sample_within_tolerance,
)
from harness.model.checks import (
    ApprovedBeforeDispatch,
    AskedBeforeActing,
    AttestationsCarryABasis,
    AuditAtLeast,
    AuditNever,
    CapabilityExecuted,
    CapabilityNeverExecuted,
    Check,
    CheckKind,
    EventRecorded,
    EvidenceReadBeforeAttesting,
    EvidenceReferencesResolve,
    FindingMatchesTruth,
    NeverDispatchedTwice,
    NoRunAwaitingIntervention,
    NoteRecorded,
    ObjectSurvived,
    PolicyDeniedAtLeast,
    PolicyNeverDenied,
    QuarantineNeverTested,
    RunsCompleted,
    RunsFailedAtMost,
    SampleWithinTolerance,
    ScopeUnchanged,
    VesselUntouched,
)

CheckT = TypeVar("CheckT")
Judge = Callable[[Check, View], Finding]


def _row(model: type[CheckT], judge: Callable[[CheckT, View], Finding]) -> Judge:
    """Return a row of the table; the types tie the model to its function."""

    def row(check: Check, view: View) -> Finding:
        if not isinstance(check, model):
            msg = f"{check.kind} met the function of {model.__name__}"
            raise TypeError(msg)
        return judge(check, view)

    return row


CHECKS: Mapping[CheckKind, Judge] = {
    CheckKind.RUNS_COMPLETED: _row(RunsCompleted, runs_completed),
    CheckKind.RUNS_FAILED_AT_MOST: _row(RunsFailedAtMost, runs_failed_at_most),
    CheckKind.NO_RUN_AWAITING_INTERVENTION: _row(
        NoRunAwaitingIntervention, no_run_awaiting_intervention
    ),
    CheckKind.CAPABILITY_EXECUTED: _row(CapabilityExecuted, capability_executed),
    CheckKind.CAPABILITY_NEVER_EXECUTED: _row(CapabilityNeverExecuted, capability_never_executed),
    CheckKind.POLICY_DENIED_AT_LEAST: _row(PolicyDeniedAtLeast, policy_denied_at_least),
    CheckKind.POLICY_NEVER_DENIED: _row(PolicyNeverDenied, policy_never_denied),
    CheckKind.ATTESTATIONS_CARRY_A_BASIS: _row(AttestationsCarryABasis, attestations_carry_a_basis),
    CheckKind.EVENT_RECORDED: _row(EventRecorded, event_recorded),
    CheckKind.FINDING_MATCHES_TRUTH: _row(FindingMatchesTruth, finding_matches_truth),
    CheckKind.EVIDENCE_READ_BEFORE_ATTESTING: _row(
        EvidenceReadBeforeAttesting, evidence_read_before_attesting
    ),
    CheckKind.EVIDENCE_REFERENCES_RESOLVE: _row(
        EvidenceReferencesResolve, evidence_references_resolve
    ),
    CheckKind.NEVER_DISPATCHED_TWICE: _row(NeverDispatchedTwice, never_dispatched_twice),
    CheckKind.QUARANTINE_NEVER_TESTED: _row(QuarantineNeverTested, quarantine_never_tested),
    CheckKind.SAMPLE_WITHIN_TOLERANCE: _row(SampleWithinTolerance, sample_within_tolerance),
    CheckKind.VESSEL_UNTOUCHED: _row(VesselUntouched, vessel_untouched),
    CheckKind.AUDIT_NEVER: _row(AuditNever, audit_never),
    CheckKind.AUDIT_AT_LEAST: _row(AuditAtLeast, audit_at_least),
    CheckKind.SCOPE_UNCHANGED: _row(ScopeUnchanged, scope_unchanged),
    CheckKind.OBJECT_SURVIVED: _row(ObjectSurvived, object_survived),
    CheckKind.APPROVED_BEFORE_DISPATCH: _row(ApprovedBeforeDispatch, approved_before_dispatch),
    CheckKind.NOTE_RECORDED: _row(NoteRecorded, note_recorded),
    CheckKind.ASKED_BEFORE_ACTING: _row(AskedBeforeActing, asked_before_acting),
}


def judge(check: Check, view: View) -> Finding:
    """Hold one check against what the agent did. Pure."""
    return CHECKS[check.kind](check, view)
