"""Whether somebody else has granted what policy leaves to an approval.

Pure. What counts is decided after it was asked for, in the same round of the same run, about the
same capability, by nobody who asks. It is looked at again at the moment of dispatch: a grant may
have ended by then, and a later refusal takes it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from harness.lab.reconcile.observed import Observed
from harness.model.lab import Approval, Decision, LabRun, LabTask, TaskState


class Standing(StrEnum):
    """How an approval stands."""

    NOT_ASKED = "not_asked"
    UNDECIDED = "undecided"
    GRANTED = "granted"
    REFUSED = "refused"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """How an approval stands, and by which decision.

    Attributes:
        by: The decision; None while there is none.
    """

    standing: Standing
    by: Approval | None = None

    @property
    def ends_at(self) -> datetime | None:
        """When a grant in force ends; None when there is none."""
        granted = self.standing is Standing.GRANTED
        return self.by.spec.expires_at if granted and self.by else None

    @property
    def words(self) -> str:
        """One line about the decision."""
        if self.by is None:
            return "no approval was asked for"
        spec = self.by.spec
        if self.standing is Standing.EXPIRED and spec.expires_at is not None:
            ended = spec.expires_at.isoformat(timespec="seconds")
            return f"approval {self.by.name} by {spec.approved_by} ended at {ended}"
        why = f": {spec.reason}" if spec.reason else ""
        return f"approval {self.by.name}: {spec.decision} by {spec.approved_by}{why}"


def authorization(observed: Observed, run: LabRun, task: LabTask, now: datetime) -> Authorization:
    """Return how the approval of what a task is about to do stands. Pure."""
    asked_at = _asked_at(observed, run, task.spec.capability)
    if asked_at is None:
        return Authorization(standing=Standing.NOT_ASKED)
    counts = [one for one in observed.approvals if _counts(one, run, task, asked_at)]
    decided = sorted(counts, key=lambda one: (one.spec.decided_at or asked_at, one.name))
    if not decided:
        return Authorization(standing=Standing.UNDECIDED)
    if decided[-1].spec.decision != Decision.GRANTED:
        return Authorization(standing=Standing.REFUSED, by=decided[-1])
    refusals = [index for index, one in enumerate(decided) if one.spec.decision != Decision.GRANTED]
    grants = decided[refusals[-1] + 1 if refusals else 0 :]
    longest = max(grants, key=lambda one: one.spec.expires_at or asked_at)
    in_force = longest.spec.expires_at is not None and now < longest.spec.expires_at
    return Authorization(standing=Standing.GRANTED if in_force else Standing.EXPIRED, by=longest)


def _asked_at(observed: Observed, run: LabRun, capability: str) -> datetime | None:
    """Return when the run first asked for a capability in this round."""
    count = run.status.observed_resume_count
    times = [
        moved.at
        for task in observed.tasks
        if task.spec.run_uid == run.uid and task.spec.capability == capability
        for moved in task.status.history
        if moved.state == TaskState.WAITING_FOR_AUTHORIZATION and moved.round == count
    ]
    return min(times, default=None)


def _counts(one: Approval, run: LabRun, task: LabTask, asked_at: datetime) -> bool:
    spec, at = one.spec, one.spec.decided_at
    return (
        spec.run == run.name
        and spec.run_uid == run.uid
        and spec.approved_by not in ("", run.spec.operator, run.requested_by)
        and (not spec.capabilities or task.spec.capability in spec.capabilities)
        and at is not None
        and at >= asked_at
    )
