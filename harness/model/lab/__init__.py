"""Typed views of the laboratory's custom resources, as the API server returns them.

The controller, the webhook and the grader read objects through these, so that a field has one
spelling. `tf/modules/lab_api` holds the schemas; a test compares the two.
"""

from __future__ import annotations

from harness.model.lab.equipment import (
    Capability,
    CapabilitySpec,
    Instrument,
    InstrumentSpec,
    InstrumentStatus,
    LabPolicy,
    LabPolicySpec,
    Parameter,
    PolicyRule,
    Simulation,
)
from harness.model.lab.states import (
    UNSETTLED_STATES,
    EventType,
    Finding,
    Reason,
    RetrySafety,
    RunState,
    TaskState,
)
from harness.model.lab.work import (
    Attestation,
    AttestationSpec,
    AttestationStatus,
    Dispatch,
    EvidenceReference,
    LabEvent,
    LabEventSpec,
    LabRun,
    LabRunSpec,
    LabRunStatus,
    LabTask,
    LabTaskSpec,
    LabTaskStatus,
    Moved,
    Step,
)

__all__ = [
    "UNSETTLED_STATES",
    "Attestation",
    "AttestationSpec",
    "AttestationStatus",
    "Capability",
    "CapabilitySpec",
    "Dispatch",
    "EventType",
    "EvidenceReference",
    "Finding",
    "Instrument",
    "InstrumentSpec",
    "InstrumentStatus",
    "LabEvent",
    "LabEventSpec",
    "LabPolicy",
    "LabPolicySpec",
    "LabRun",
    "LabRunSpec",
    "LabRunStatus",
    "LabTask",
    "LabTaskSpec",
    "LabTaskStatus",
    "Moved",
    "Parameter",
    "PolicyRule",
    "Reason",
    "RetrySafety",
    "RunState",
    "Simulation",
    "Step",
    "TaskState",
]
