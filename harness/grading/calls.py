"""What was sent to instruments as the agent's doing, whatever became of the run it was sent for.

It owns the way from dispatches, events and the instruments' journal to calls; it refuses to know
whether a call was right. view.py calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harness.grading.objects import aware
from harness.model.lab import EventType, LabEvent, LabTask, Reason, TaskState

#: Events that name a call that was sent.
_SENDING = frozenset({EventType.TASK_STARTED, EventType.TASK_RETRYING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the agent's.

    Attributes:
        task: Name of its LabTask.
        run: Name of its run.
        run_uid: UID of its run; empty where task and run were erased.
        sent_at: When its dispatch was put on record.
        reached: Whether an instrument accepted it.
        answered_at: When it succeeded by an instrument's answer, and stands so; else None.
    """

    request_id: str
    task: str
    run: str
    run_uid: str
    capability: str
    inputs: Mapping[str, Any]
    instrument: str
    sent_at: datetime
    reached: bool
    answered_at: datetime | None

    def asks_for(self, inputs: Mapping[str, Any]) -> bool:
        """Tell whether it had these inputs, whatever others it had."""
        return has_inputs(self.inputs, inputs)

    def names(self, vessel: str) -> bool:
        """Tell whether an input of it is this vessel."""
        return any(value == vessel for value in self.inputs.values())


def has_inputs(inputs: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Tell whether these inputs are among others. Pure."""
    return all(inputs.get(name) == value for name, value in wanted.items())


def own_calls(
    tasks: Iterable[LabTask],
    events: Iterable[LabEvent],
    journal: Iterable[Mapping[str, Any]],
    *,
    user: str,
    sent_before: frozenset[str],
) -> tuple[Call, ...]:
    """Return the calls that were sent as the agent's, in order of sending. Pure.

    Args:
        tasks: At the end.
        events: Of the agent's doing; they outlive a run that was erased.
        journal: What the instruments accepted.
        user: The agent.
        sent_before: Request ids from before it began.
    """
    accepted = {
        str(entry.get("requestId")): entry for entry in journal if entry.get("event") == "accepted"
    }
    found: dict[str, Call] = {}
    for task in tasks:
        for number, dispatch in enumerate(task.status.dispatches, start=1):
            if dispatch.requested_by != user or dispatch.request_id in sent_before:
                continue
            last = number == len(task.status.dispatches)
            found[dispatch.request_id] = Call(
                request_id=dispatch.request_id,
                task=task.name,
                run=task.spec.run,
                run_uid=task.spec.run_uid,
                capability=task.spec.capability,
                inputs=task.spec.inputs,
                instrument=dispatch.instrument,
                sent_at=aware(dispatch.sent_at, f"task {task.name}"),
                reached=dispatch.request_id in accepted,
                answered_at=_answered_at(task) if last else None,
            )
    for event in events:
        request_id = str(event.spec.payload.get("requestId"))
        if event.spec.type in _SENDING and request_id not in sent_before | found.keys():
            found[request_id] = _erased(event, request_id, accepted.get(request_id))
    return tuple(sorted(found.values(), key=lambda call: (call.sent_at, call.request_id)))


def _answered_at(task: LabTask) -> datetime | None:
    """Return when an instrument's answer to its last dispatch was on record for all to read."""
    return next(
        (
            aware(moved.at, f"task {task.name}")
            for moved in task.status.history
            if moved.state == TaskState.SUCCEEDED and moved.reason != Reason.ATTESTED
        ),
        None,
    )


def _erased(event: LabEvent, request_id: str, entry: Mapping[str, Any] | None) -> Call:
    inputs = (entry or {}).get("inputs")
    return Call(
        request_id=request_id,
        task=event.spec.task,
        run=event.spec.run,
        run_uid="",
        capability=str(event.spec.payload.get("capability", "")),
        inputs=inputs if isinstance(inputs, dict) else {},
        instrument=str(event.spec.payload.get("instrument", "")),
        sent_at=aware(event.spec.at, f"event {event.name}"),
        reached=entry is not None,
        answered_at=None,
    )
