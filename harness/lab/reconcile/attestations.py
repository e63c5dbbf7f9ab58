"""Which attestations settle their task: the first that finds it unsettled, and no other.

What it rests on must be there and older than itself, and where duties are separated it must be
somebody else's than the call. Pure. The task is written before the attestation, so that after a
crash in between the attestation is still found to be the one that settled it.
"""

from __future__ import annotations

from datetime import datetime

from harness.lab.policy import separates_duties
from harness.lab.reconcile.actions import Action, WriteStatus, move_task, to_wire
from harness.lab.reconcile.evidence import evidence_problem, refused_at
from harness.lab.reconcile.observed import Observed, last_dispatch
from harness.model.lab import (
    Attestation,
    AttestationStatus,
    Finding,
    LabRun,
    LabTask,
    Reason,
    RunState,
    TaskState,
)

_SETTLED_AS = {
    Finding.COMPLETED: TaskState.SUCCEEDED,
    Finding.DID_NOT_OCCUR: TaskState.FAILED,
    Finding.ABANDONED: TaskState.CANCELLED,
}

#: States of a run in which its tasks are still moving; attestations wait until that has ended.
_MOVING = frozenset({RunState.RUNNING, RunState.ABORTING})


def plan_attestations(observed: Observed, now: datetime) -> list[Action]:
    """Return what is due for the attestations that are undecided, oldest first. Pure."""
    tasks = {task.name: task for task in observed.tasks}
    runs = {run.uid: run for run in observed.runs}
    settled: set[str] = set()
    actions: list[Action] = []
    undecided = [one for one in observed.attestations if one.status.accepted is None]
    for one in sorted(undecided, key=_age):
        task = tasks.get(one.spec.task)
        if task is None:
            actions.append(_decided(one, accepted=False, reason="the task is gone"))
        elif task.status.attestation == one.name:
            actions.append(_decided(one, accepted=True, reason="settled the task"))
        elif task.name in settled or task.status.state is not TaskState.INTERVENTION_REQUIRED:
            actions.append(_decided(one, accepted=False, reason=_late(task)))
        elif refusal := _refusal(observed, one, task):
            if now >= refused_at(observed, one, now):
                actions.append(_decided(one, accepted=False, reason=refusal))
        else:
            run = runs.get(task.spec.run_uid)
            if run is None or run.status.state not in _MOVING:
                settled.add(task.name)
                actions += _settle(one, task, run, now)
    return actions


def _refusal(observed: Observed, one: Attestation, task: LabTask) -> str:
    call = last_dispatch(task)
    if call and separates_duties(observed.policies) and call.requested_by == one.spec.attested_by:
        return f"{one.spec.attested_by} asked for the call; the policy wants somebody else's word"
    return evidence_problem(observed, one)


def _settle(one: Attestation, task: LabTask, run: LabRun | None, now: datetime) -> list[Action]:
    try:
        state = _SETTLED_AS[Finding(one.spec.finding)]
    except ValueError:
        return [_decided(one, accepted=False, reason=f"unknown finding {one.spec.finding!r}")]
    write = move_task(
        task,
        state,
        run=run,
        now=now,
        reason=Reason.ATTESTED,
        message=f"{one.spec.finding} by attestation {one.name}",
        by=one.spec.attested_by,
        attestation=one.name,
    )
    return [write, _decided(one, accepted=True, reason="settled the task")]


def _late(task: LabTask) -> str:
    by = f" by attestation {task.status.attestation}" if task.status.attestation else ""
    return f"the task was no longer in {TaskState.INTERVENTION_REQUIRED.value}: settled{by}"


def _decided(one: Attestation, *, accepted: bool, reason: str) -> WriteStatus:
    status = AttestationStatus(accepted=accepted, reason=reason)
    return WriteStatus(
        subject=one.spec.task,
        kind="Attestation",
        name=one.name,
        resource_version=one.metadata.resource_version,
        status=to_wire(status),
    )


def _age(one: Attestation) -> tuple[str, int, str]:
    version = one.metadata.resource_version
    return (
        one.metadata.creation_timestamp,
        int(version) if version.isdecimal() else 0,
        one.name,
    )
