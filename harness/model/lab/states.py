"""The closed sets of the laboratory: states, findings, reasons, types of events."""

from __future__ import annotations

from enum import StrEnum


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
    TASK_WAITING_FOR_AUTHORIZATION = "TaskWaitingForAuthorization"
    APPROVAL_REQUESTED = "ApprovalRequested"
    APPROVAL_DECIDED = "ApprovalDecided"


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
    APPROVAL_REFUSED = "approval_refused"
    APPROVAL_EXPIRED = "approval_expired"


class NoteReason(StrEnum):
    """Why a note was left; a closed set.

    `not_authorized`: it takes somebody else's decision. `not_mine`: another group settles it.
    `in_progress`: it works as it should and is left alone. `refused`: asked for and not granted.
    `unknown`: it could not be established. `information`: anything else.
    """

    NOT_AUTHORIZED = "not_authorized"
    NOT_MINE = "not_mine"
    IN_PROGRESS = "in_progress"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    INFORMATION = "information"


class Decision(StrEnum):
    """What an approver decided."""

    GRANTED = "granted"
    REFUSED = "refused"


#: States of a task in which an instrument may be at work, or nobody knows whether it was. A run
#: with such a task cannot be deleted.
UNSETTLED_STATES = frozenset(
    {TaskState.RUNNING, TaskState.RETRYING, TaskState.INTERVENTION_REQUIRED}
)
