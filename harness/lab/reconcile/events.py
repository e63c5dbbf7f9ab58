"""LabEvents that are due: read off the histories, so that none is lost and none happens twice.

Pure. The histories are written with the states themselves, so a crash in between loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from harness.lab.reconcile.actions import Create
from harness.lab.reconcile.observed import Observed, last_dispatch
from harness.lab.reconcile.recorded import UID_CHARS, build_event
from harness.model.lab import (
    EventType,
    LabRun,
    LabTask,
    Moved,
    Reason,
    RunState,
    TaskState,
)

_RUN_EVENTS = {
    RunState.COMPLETED: EventType.RUN_COMPLETED,
    RunState.ABORTED: EventType.RUN_ABORTED,
}

_TASK_EVENTS = {
    TaskState.WAITING_FOR_RESOURCES: EventType.TASK_WAITING_FOR_RESOURCES,
    TaskState.WAITING_FOR_AUTHORIZATION: EventType.TASK_WAITING_FOR_AUTHORIZATION,
    TaskState.RUNNING: EventType.TASK_STARTED,
    TaskState.RETRYING: EventType.TASK_RETRYING,
    TaskState.SUCCEEDED: EventType.TASK_SUCCEEDED,
    TaskState.FAILED: EventType.TASK_FAILED,
    TaskState.CANCELLED: EventType.TASK_CANCELLED,
}


def due_events(observed: Observed) -> list[Create]:
    """Return every event that should be there and is not, oldest first. Pure."""
    due = [
        *(event for run in observed.runs for event in _of_run(observed, run)),
        *(event for task in observed.tasks for event in _of_task(observed, task)),
    ]
    missing = [event for event in due if event.name not in observed.events]
    return sorted(missing, key=lambda event: (str(event.manifest["spec"]["at"]), event.name))


def _of_run(observed: Observed, run: LabRun) -> Iterator[Create]:
    payload: dict[str, Any] = {
        "environment": run.spec.environment,
        "capabilities": [step.capability for step in run.spec.steps],
    }
    created_at = _time(run.metadata.creation_timestamp)
    actor = run.spec.operator
    if created_at is not None:
        if run.spec.supersedes:
            payload["supersedes"] = run.spec.supersedes
            yield from _superseded(observed, run, created_at)
        kind = EventType.RUN_CREATED
        yield build_event(run, kind, "0", run=run.name, at=created_at, actor=actor, payload=payload)
    for index, moved in enumerate(run.status.history):
        kind_of = _run_event(moved, run.status.history[:index])
        if kind_of is not None:
            yield build_event(
                run,
                kind_of,
                str(index),
                run=run.name,
                at=moved.at,
                actor=moved.by,
                payload=_why(moved),
            )
    yield from _decided(observed, run)


def _decided(observed: Observed, run: LabRun) -> Iterator[Create]:
    """What somebody decided about a run is on record, whether or not it was asked for."""
    for one in observed.approvals:
        spec = one.spec
        at = spec.decided_at or _time(one.metadata.creation_timestamp)
        if spec.run != run.name or spec.run_uid != run.uid or at is None:
            continue
        payload: dict[str, Any] = {
            "approval": one.name,
            "decision": spec.decision,
            "capabilities": list(spec.capabilities),
        }
        if spec.expires_at is not None:
            payload["expiresAt"] = spec.expires_at.isoformat()
        if spec.reason:
            payload["reason"] = spec.reason
        kind, key = EventType.APPROVAL_DECIDED, one.uid[:UID_CHARS]
        actor = spec.approved_by
        yield build_event(run, kind, key, run=run.name, at=at, actor=actor, payload=payload)


def _superseded(observed: Observed, run: LabRun, at: datetime) -> Iterator[Create]:
    for old in observed.runs:
        if old.name == run.spec.supersedes:
            kind, payload = EventType.RUN_SUPERSEDED, {"run": run.name}
            key = run.uid[:UID_CHARS]
            actor = run.spec.operator
            yield build_event(old, kind, key, run=old.name, at=at, actor=actor, payload=payload)


def _run_event(moved: Moved, before: tuple[Moved, ...]) -> EventType | None:
    match moved.state:
        case RunState.RUNNING:
            again = any(one.state == RunState.RUNNING for one in before)
            return EventType.RUN_RESUMED if again else EventType.RUN_STARTED
        case RunState.FAILED:
            resolved = moved.reason == Reason.INTERVENTION_RESOLVED
            return EventType.RUN_INTERVENTION_RESOLVED if resolved else EventType.RUN_FAILED
        case RunState.INTERVENTION_REQUIRED:
            restarted = moved.reason == Reason.CONTROLLER_RESTARTED
            kinds = (EventType.RUN_INTERVENTION_REQUIRED, EventType.RUN_RECOVERY_REQUIRED)
            return kinds[restarted]
        case _:
            return _RUN_EVENTS.get(RunState(moved.state))


def _of_task(observed: Observed, task: LabTask) -> Iterator[Create]:
    calls = 0
    for index, moved in enumerate(task.status.history):
        payload = {"capability": task.spec.capability, "step": task.spec.step, **_why(moved)}
        if moved.state == TaskState.RUNNING:
            calls += 1
        if 0 < calls <= len(task.status.dispatches):
            call = task.status.dispatches[calls - 1]
            payload |= {"n": call.n, "requestId": call.request_id, "instrument": call.instrument}
        if moved.state == TaskState.SUCCEEDED:
            payload["outputs"] = task.status.outputs
        kind = _task_event(moved)
        if kind is EventType.TASK_ATTESTED:
            payload["attestation"] = _attestation(observed, task)
        kinds = [kind] if kind is not None else []
        if moved.state == TaskState.WAITING_FOR_AUTHORIZATION:
            kinds.append(EventType.APPROVAL_REQUESTED)
        for one in kinds:
            yield build_event(
                task,
                one,
                str(index),
                run=task.spec.run,
                at=moved.at,
                actor=moved.by,
                payload=payload,
            )
    yield from _late(observed, task)


def _task_event(moved: Moved) -> EventType | None:
    if moved.reason == Reason.ATTESTED:
        return EventType.TASK_ATTESTED
    if moved.state == TaskState.INTERVENTION_REQUIRED:
        restarted = moved.reason == Reason.CONTROLLER_RESTARTED
        return (EventType.TASK_INTERVENTION_REQUIRED, EventType.TASK_RECOVERY_REQUIRED)[restarted]
    return _TASK_EVENTS.get(TaskState(moved.state))


def _attestation(observed: Observed, task: LabTask) -> dict[str, Any]:
    for one in observed.attestations:
        if one.name == task.status.attestation:
            return {"name": one.name, **one.spec.model_dump(mode="json", by_alias=True)}
    return {"name": task.status.attestation}


def _late(observed: Observed, task: LabTask) -> Iterator[Create]:
    """An answer that nobody waits for any more is kept as evidence, and settles nothing."""
    waiting = last_dispatch(task) if task.status.state is TaskState.RUNNING else None
    for call in task.status.dispatches:
        answer = observed.facts.answers.get(call.request_id)
        if answer is None or call.answered_at is not None or call == waiting:
            continue
        payload: dict[str, Any] = {
            "capability": task.spec.capability,
            "requestId": call.request_id,
            "instrument": call.instrument,
            "outcome": "failed" if answer.error else "succeeded",
            "outputs": dict(answer.outputs),
        }
        if answer.error:
            payload["error"] = answer.error
        yield build_event(
            task,
            EventType.LATE_ANSWER,
            str(call.n),
            run=task.spec.run,
            at=answer.at,
            actor=call.requested_by,
            payload=payload,
        )


def _why(moved: Moved) -> dict[str, Any]:
    found = {"reason": moved.reason, "message": moved.message}
    return {name: value for name, value in found.items() if value}


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
