"""Typed views of the laboratory's custom resources, as the API server returns them.

The controller, the webhook and the grader read objects through these, so that a field has one
spelling. `tf/modules/lab_api` holds the schemas; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class RunState(StrEnum):
    """The nine states of a run."""

    PLANNED = "planned"
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    INTERVENTION_REQUIRED = "intervention_required"
    ABORTING = "aborting"
    FAILED = "failed"
    COMPLETED = "completed"
    ABORTED = "aborted"


class TaskState(StrEnum):
    """The nine states of a task."""

    PENDING = "pending"
    WAITING_FOR_RESOURCES = "waiting_for_resources"
    WAITING_FOR_AUTHORIZATION = "waiting_for_authorization"
    RUNNING = "running"
    RETRYING = "retrying"
    INTERVENTION_REQUIRED = "intervention_required"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Finding(StrEnum):
    """What somebody established about a call whose wait was dropped."""

    COMPLETED = "completed"
    DID_NOT_OCCUR = "did_not_occur"
    ABANDONED = "abandoned"


class RetrySafety(StrEnum):
    """Whether a dispatch may be repeated; the strictest is the default."""

    REPEATABLE = "repeatable"
    REPEATABLE_IF_NOT_DISPATCHED = "repeatable_if_not_dispatched"
    NOT_REPEATABLE = "not_repeatable"


class EventType(StrEnum):
    """Every type of LabEvent."""

    RUN_CREATED = "RunCreated"
    RUN_STARTED = "RunStarted"
    RUN_COMPLETED = "RunCompleted"
    RUN_FAILED = "RunFailed"
    RUN_ABORTED = "RunAborted"
    RUN_RESUMED = "RunResumed"
    RUN_SUPERSEDED = "RunSuperseded"
    RUN_INTERVENTION_REQUIRED = "RunInterventionRequired"
    RUN_RECOVERY_REQUIRED = "RunRecoveryRequired"
    RUN_INTERVENTION_RESOLVED = "RunInterventionResolved"
    POLICY_EVALUATED = "PolicyEvaluated"
    TASK_WAITING_FOR_RESOURCES = "TaskWaitingForResources"
    TASK_STARTED = "TaskStarted"
    TASK_RETRYING = "TaskRetrying"
    TASK_SUCCEEDED = "TaskSucceeded"
    TASK_FAILED = "TaskFailed"
    TASK_CANCELLED = "TaskCancelled"
    TASK_INTERVENTION_REQUIRED = "TaskInterventionRequired"
    TASK_RECOVERY_REQUIRED = "TaskRecoveryRequired"
    TASK_ATTESTED = "TaskAttested"
    LATE_ANSWER = "LateAnswer"


class Reason(StrEnum):
    """Why a run or a task is in its state; a closed set."""

    EXECUTION_CANCELLED = "execution_cancelled"
    EXECUTION_TIMED_OUT = "execution_timed_out"
    CONTROLLER_RESTARTED = "controller_restarted"
    TASK_OUTCOME_UNKNOWN = "task_outcome_unknown"
    POLICY_DENIED = "policy_denied"
    INVALID_INPUTS = "invalid_inputs"
    INSTRUMENT_ERROR = "instrument_error"
    INSTRUMENT_REFUSED = "instrument_refused"
    NO_INSTRUMENT = "no_instrument"
    STEP_FAILED = "step_failed"
    ATTESTED = "attested"
    INTERVENTION_RESOLVED = "intervention_resolved"


class _View(BaseModel):
    """Reads camelCase, keeps what it knows, ignores what else an object carries."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True
    )


class Meta(_View):
    """What every object has. Identity is the UID, never the name."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None


class _Object(_View):
    metadata: Meta

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> Self:
        """Return the view of an object as the API server returned it."""
        return cls.model_validate(obj)

    @property
    def name(self) -> str:
        """The object's name."""
        return self.metadata.name

    @property
    def uid(self) -> str:
        """The object's UID."""
        return self.metadata.uid


class Parameter(_View):
    """One input or output of a capability, with its unit."""

    name: str
    type: Literal["string", "number", "integer", "boolean", "array"]
    unit: str = ""
    required: bool = True
    minimum: float | None = None
    maximum: float | None = None


class CapabilitySpec(_View):
    """What may be asked of an instrument."""

    id: str
    inputs: tuple[Parameter, ...] = ()
    outputs: tuple[Parameter, ...] = ()
    risk_class: Literal["R0", "R1", "R2", "R3", "R4"]
    acts: bool
    retry_safety: RetrySafety = RetrySafety.NOT_REPEATABLE
    max_retries: int = 0
    timeout_seconds: float
    instrument_type: str


class Capability(_Object):
    """A Capability; its id (`sim.mix_color`) is in the spec, for no object name may hold `_`."""

    spec: CapabilitySpec


class Simulation(_View):
    """How a simulated instrument behaves."""

    latency_seconds: float = 0.0
    refuses: bool = False


class InstrumentSpec(_View):
    """What an instrument is."""

    type: str
    simulation: Simulation = Simulation()


class InstrumentStatus(_View):
    """Who holds an instrument, and whether its state is known.

    Attributes:
        held_by: Name of the LabTask that has it, or empty.
        quarantined: Whether an unsettled call may still be working on it.
        fencing_token: Token of the last dispatch; it only rises.
    """

    held_by: str = ""
    quarantined: bool = False
    fencing_token: int = 0


class Instrument(_Object):
    """An Instrument."""

    spec: InstrumentSpec
    status: InstrumentStatus = InstrumentStatus()


class PolicyRule(_View):
    """One rule; all four selectors must match. Globs as in `fnmatch`."""

    id: str
    effect: Literal["allow", "deny"]
    capability: str = "*"
    environments: tuple[str, ...] = ("*",)
    operators: tuple[str, ...] = ("*",)
    risk_classes: tuple[str, ...] = ("*",)
    reason: str = ""


class LabPolicySpec(_View):
    """Rules in order; the first match decides, no match is a denial."""

    rules: tuple[PolicyRule, ...] = ()


class LabPolicy(_Object):
    """A LabPolicy."""

    spec: LabPolicySpec


class Step(_View):
    """One step of a run."""

    id: str
    capability: str
    inputs: dict[str, Any] = {}
    needs: tuple[str, ...] = ()
    timeout_seconds: float | None = None


class LabRunSpec(_View):
    """What was asked. Stamps are the webhook's; the rest is the author's and does not change.

    Attributes:
        operator: User who created the run (stamp).
        cancel_requested: Goes from false to true, once.
        resume_count: Rises by one, only in `failed`.
    """

    operator: str = ""
    environment: str = "simulation"
    steps: tuple[Step, ...]
    supersedes: str | None = None
    cancel_requested: bool = False
    cancel_requested_by: str = ""
    resume_count: int = 0
    resumed_by: str = ""


class Moved(_View):
    """One state entered. Written with the state itself, so that no event of it can be lost.

    Attributes:
        by: User whose doing it was.
        round: The run's resume count at that time.
    """

    state: str
    reason: str = ""
    message: str = ""
    by: str = ""
    round: int = 0
    at: datetime


class LabRunStatus(_View):
    """What the controller says of a run.

    Attributes:
        observed_cancel_requested: Whether the cancellation was acted on; it counts once.
        history: Every state entered, in order.
        conditions: Completed, Failed and InterventionRequired, as `kubectl wait` reads them.
    """

    state: RunState = RunState.PLANNED
    reason: str = ""
    message: str = ""
    observed_generation: int = 0
    observed_resume_count: int = 0
    observed_cancel_requested: bool = False
    history: tuple[Moved, ...] = ()
    conditions: tuple[dict[str, Any], ...] = ()


class LabRun(_Object):
    """A LabRun."""

    spec: LabRunSpec
    status: LabRunStatus = LabRunStatus()

    @property
    def requested_by(self) -> str:
        """Who answers for what is dispatched now: the resumer, else the creator."""
        return self.spec.resumed_by or self.spec.operator


class Dispatch(_View):
    """One call to an instrument, written before it was sent.

    Attributes:
        round: The run's resume count at that time.
    """

    n: int
    round: int = 0
    request_id: str
    requested_by: str
    instrument: str
    fencing_token: int
    sent_at: datetime
    answered_at: datetime | None = None


class LabTaskSpec(_View):
    """Which step of which run this is the record of."""

    run: str
    run_uid: str = ""
    step: str
    capability: str
    inputs: dict[str, Any] = {}


class LabTaskStatus(_View):
    """What the controller says of a task.

    Attributes:
        attestation: Name of the Attestation that settled it, or empty.
        history: Every state entered, in order.
    """

    state: TaskState = TaskState.PENDING
    reason: str = ""
    message: str = ""
    dispatches: tuple[Dispatch, ...] = ()
    outputs: dict[str, Any] = {}
    attestation: str = ""
    history: tuple[Moved, ...] = ()


class LabTask(_Object):
    """A LabTask, named `<run>-<step>`."""

    spec: LabTaskSpec
    status: LabTaskStatus = LabTaskStatus()


class EvidenceReference(_View):
    """An object that an attestation rests on, in the same namespace."""

    kind: str
    name: str


class AttestationSpec(_View):
    """What somebody established, and how they know."""

    task: str
    finding: str
    basis: str
    evidence: tuple[EvidenceReference, ...] = ()
    attested_by: str = ""


class AttestationStatus(_View):
    """What the controller decided; admitted is not accepted."""

    accepted: bool | None = None
    reason: str = ""


class Attestation(_Object):
    """An Attestation."""

    spec: AttestationSpec
    status: AttestationStatus = AttestationStatus()


class LabEventSpec(_View):
    """Something that happened, whose doing it was, and the details."""

    type: str
    run: str = ""
    task: str = ""
    actor: str = ""
    at: datetime
    payload: dict[str, Any] = {}


class LabEvent(_Object):
    """A LabEvent."""

    spec: LabEventSpec


#: States of a task in which an instrument may be at work, or nobody knows whether it was. A run
#: with such a task cannot be deleted.
UNSETTLED_STATES = frozenset(
    {TaskState.RUNNING, TaskState.RETRYING, TaskState.INTERVENTION_REQUIRED}
)
