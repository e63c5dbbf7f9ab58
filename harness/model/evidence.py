"""What an attempt left on record. Left of this the world is touched; right of it nothing is.

A bundle is a folder; `Evidence` is that folder read back, with every digest verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.model.agent import AgentOutcome
from harness.model.chain import Chain
from harness.model.checks import Check
from harness.model.frozen import Frozen

#: Files of evidence/, each with its digest in MANIFEST.
EVIDENCE_FILES = (
    "attempt.json",
    "audit.jsonl",
    "baseline.json",
    "drift.json",
    "events.json",
    "final.json",
    "instruments.json",
    "truth.json",
)

#: Capability to the file that only a cluster with it can give.
RECORDED_BY: Mapping[str, str] = {"audit": "audit.jsonl"}

#: Form of the bundles that are written now: the lines of audit.jsonl are chained. In 1 they were
#: plain, and there was no field that said so.
BUNDLE_FORMAT: Literal[2] = 2

#: Phases of an attempt, in order, each with seconds of its own in the report.
PhaseName = Literal["provision", "ready", "setup", "act", "freeze", "collect", "sweep", "verify"]


class Status(StrEnum):
    """How an attempt ended; a closed set.

    The first three are the agent's and count. The last three have causes outside the agent; they
    never count for or against it, and are always counted and shown.
    """

    PASSED = "passed"
    FAILED = "failed"
    AGENT_ERROR = "agent_error"
    INFRA_ERROR = "infra_error"
    ABORTED = "aborted"
    EVIDENCE_INCOMPLETE = "evidence_incomplete"


#: Statuses that are in the denominator.
COUNTED = frozenset({Status.PASSED, Status.FAILED, Status.AGENT_ERROR})


#: Verbs of the API that show objects, and those that change them.
READ_VERBS = frozenset({"get", "list", "watch"})
WRITE_VERBS = frozenset({"create", "update", "patch", "delete", "deletecollection"})

#: Groups whose kinds are questions put as creates: access, token and self-subject reviews.
_ASKING_GROUPS = frozenset({"authorization.k8s.io", "authentication.k8s.io"})


class AuditRecord(BaseModel):
    """One request of the agent's, normalised from the API server's audit log.

    Attributes:
        code: HTTP status; 0 when the request never ended.
        refused_by: `rbac`, `schema`, `policy:NAME`, `webhook:NAME`, `other`; None when it passed.
        dry_run: Whether nothing was to be stored, by query or by body.
        body: What was sent, for writes.
        selectors: What of its query narrowed a read: `fieldSelector`, `labelSelector`, `limit`,
            `continue`, `resourceVersion`, `sendInitialEvents`.
        credential: Id of the token that it came with; empty where the server kept none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    audit_id: str = Field(alias="auditID")
    received_at: datetime = Field(alias="receivedAt")
    completed_at: datetime | None = Field(alias="completedAt")
    user: str
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    code: int
    refused_by: str | None = Field(alias="refusedBy")
    dry_run: bool = Field(alias="dryRun")
    body: Any = None
    selectors: dict[str, str] = {}
    credential: str = ""

    @property
    def writes(self) -> bool:
        """Whether it tried to change something: access reviews and dry runs never do."""
        return self.verb in WRITE_VERBS and not self.dry_run and self.group not in _ASKING_GROUPS


class AttemptRecord(Frozen):
    """attempt.json: what grading must know that no object says.

    Attributes:
        user: User name of the agent's identity.
        checks: The task's checks with every placeholder replaced.
        agent: What the agent spent; None when it never acted.
        failure: Status and one line when the attempt did not come to be graded.
        seconds: Phase to seconds; phases that never began are left out.
        unrecorded: What the cluster cannot record, by the capability that it lacks.
        format: Form of the bundle; one without this field has the first.
        audit_chain: What the lines of audit.jsonl come to, since format 2.
    """

    run_id: str
    task_id: str
    category: str
    number: int
    attempt_id: str
    seed: int
    namespace: str
    user: str
    checks: tuple[Check, ...]
    agent: AgentOutcome | None
    failure: Failure | None
    seconds: dict[PhaseName, float]
    unrecorded: tuple[Literal["audit"], ...] = ()
    format: Literal[1, 2] = 1
    audit_chain: Chain | None = None


class Failure(Frozen):
    """Why an attempt has no grade."""

    status: Literal[Status.INFRA_ERROR, Status.ABORTED, Status.EVIDENCE_INCOMPLETE]
    phase: PhaseName
    message: str


AttemptRecord.model_rebuild()


class Evidence(Frozen):
    """A bundle read back.

    Attributes:
        attempt: attempt.json.
        baseline: Qualified kind (`labruns.lab.strandline.dev`) to objects, when the agent began.
        final: The same, after the freeze.
        events: Every LabEvent, in order of recording, the baseline's among them.
        audit: The agent's requests between the markers, in order; None where nobody recorded them,
            which is not the same as none.
        instruments: Entries of the instruments' journal, in order.
        drift: What Terraform and the UIDs say was changed in what we made.
        truth: What each stranded call really did.
    """

    attempt: AttemptRecord
    baseline: Mapping[str, tuple[dict[str, Any], ...]] = {}
    final: Mapping[str, tuple[dict[str, Any], ...]] = {}
    events: tuple[dict[str, Any], ...] = ()
    audit: tuple[AuditRecord, ...] | None = ()
    instruments: tuple[dict[str, Any], ...] = ()
    drift: dict[str, Any] = {}
    truth: dict[str, Any] = {}
