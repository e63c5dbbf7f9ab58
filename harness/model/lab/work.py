"""What is asked of a laboratory and what became of it: runs, tasks, attestations, events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from harness.model.lab.objects import LabObject, View
from harness.model.lab.states import RunState, TaskState


class Step(View):
    """One step of a run."""

    id: str
    capability: str
    inputs: dict[str, Any] = {}
    needs: tuple[str, ...] = ()
    instrument: str | None = None
    timeout_seconds: float | None = None


class LabRunSpec(View):
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


class Moved(View):
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


class LabRunStatus(View):
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


class LabRun(LabObject):
    """A LabRun."""

    spec: LabRunSpec
    status: LabRunStatus = LabRunStatus()

    @property
    def requested_by(self) -> str:
        """Who answers for what is dispatched now: the resumer, else the creator."""
        return self.spec.resumed_by or self.spec.operator


class Dispatch(View):
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


class LabTaskSpec(View):
    """Which step of which run this is the record of."""

    run: str
    run_uid: str = ""
    step: str
    capability: str
    inputs: dict[str, Any] = {}


class LabTaskStatus(View):
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


class LabTask(LabObject):
    """A LabTask, named `<run>-<step>`."""

    spec: LabTaskSpec
    status: LabTaskStatus = LabTaskStatus()


class EvidenceReference(View):
    """An object that an attestation rests on, in the same namespace."""

    kind: str
    name: str


class AttestationSpec(View):
    """What somebody established, and how they know."""

    task: str
    finding: str
    basis: str
    evidence: tuple[EvidenceReference, ...] = ()
    attested_by: str = ""


class AttestationStatus(View):
    """What the controller decided; admitted is not accepted."""

    accepted: bool | None = None
    reason: str = ""


class Attestation(LabObject):
    """An Attestation."""

    spec: AttestationSpec
    status: AttestationStatus = AttestationStatus()


class NoteSubject(View):
    """What a note is about, in the same namespace."""

    kind: str
    name: str


class NoteSpec(View):
    """What somebody wants others to know. It settles nothing and permits nothing.

    Attributes:
        author: User who wrote it (stamp).
    """

    subject: NoteSubject
    reason: str
    text: str
    author: str = ""


class Note(LabObject):
    """A Note."""

    spec: NoteSpec


class ApprovalSpec(View):
    """What an approver decided about a run.

    Attributes:
        run: Name of the LabRun.
        capabilities: What is granted; empty for everything that the run waits for.
        expires_at: When a grant ends; what is dispatched later is not covered.
        approved_by: User who decided (stamp).
        run_uid: UID of the run at that time (stamp): a name used again is another run.
        decided_at: When it was decided (stamp); an object's own time has whole seconds only.
    """

    run: str
    decision: str
    capabilities: tuple[str, ...] = ()
    expires_at: datetime | None = None
    reason: str = ""
    approved_by: str = ""
    run_uid: str = ""
    decided_at: datetime | None = None


class Approval(LabObject):
    """An Approval."""

    spec: ApprovalSpec


class LabEventSpec(View):
    """Something that happened, whose doing it was, and the details."""

    type: str
    run: str = ""
    task: str = ""
    actor: str = ""
    at: datetime
    payload: dict[str, Any] = {}


class LabEvent(LabObject):
    """A LabEvent."""

    spec: LabEventSpec
