"""Which of the agent's doings meet a trigger of the cast. Pure.

Each thing is known by a key of its own, so that whoever looks again sees what was met before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.kube.resources import LAB_RUNS
from harness.model.evidence import AuditRecord
from harness.model.story import Trigger

#: HTTP status of a request that made an object, by create or by apply.
_CREATED = 201

_SUCCEEDED = "TaskSucceeded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """One thing that the agent did.

    Attributes:
        key: The same for the same thing, whenever one looks.
        what: For the witness: the event's or the object's name.
        run: The run that it is about, where it is about one.
    """

    key: str
    what: str
    run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is to be seen of the agent at one time.

    Attributes:
        agent_user: Its user name.
        events: LabEvents.
        requests: Its requests.
        observing: Ids of the capabilities that do not act.
    """

    agent_user: str
    events: Sequence[Mapping[str, Any]] = ()
    requests: Sequence[AuditRecord] = ()
    observing: Collection[str] = ()


def needs_events(trigger: Trigger) -> bool:
    """Tell whether a trigger is met by what the controller records. Pure."""
    return trigger.event is not None or trigger.looked is not None


def things_met(trigger: Trigger, seen: Seen) -> list[Met]:
    """Return everything of what is seen that meets a trigger, in order. Pure."""
    if needs_events(trigger):
        return [_of_event(event) for event in seen.events if _event_meets(trigger, event, seen)]
    return [_of_request(one) for one in seen.requests if _request_meets(trigger, one)]


def _event_meets(trigger: Trigger, event: Mapping[str, Any], seen: Seen) -> bool:
    spec = event["spec"]
    if spec.get("actor") != seen.agent_user:
        return False
    payload = spec.get("payload") or {}
    named = {payload.get("capability"), *(payload.get("capabilities") or ())}
    if trigger.looked:
        if spec["type"] != _SUCCEEDED or payload.get("capability") not in seen.observing:
            return False
    elif spec["type"] != trigger.event:
        return False
    if trigger.reason is not None and payload.get("reason") != trigger.reason:
        return False
    return trigger.capability is None or trigger.capability in named


def _request_meets(trigger: Trigger, request: AuditRecord) -> bool:
    if trigger.touched is not None:
        return request.name == trigger.touched
    made = request.code == _CREATED and not request.dry_run and not request.subresource
    if not made or request.resource != trigger.created:
        return False
    return trigger.capability is None or trigger.capability in _asked_for(request.body)


def _asked_for(body: Any) -> Iterable[str]:
    """Return the capabilities that the body of a new run asks for."""
    spec = body.get("spec") if isinstance(body, dict) else None
    steps = spec.get("steps") if isinstance(spec, dict) else None
    listed = steps if isinstance(steps, list) else []
    return {str(step.get("capability")) for step in listed if isinstance(step, dict)}


def _of_event(event: Mapping[str, Any]) -> Met:
    metadata, spec = event["metadata"], event["spec"]
    return Met(key=str(metadata["uid"]), what=str(metadata["name"]), run=spec.get("run") or None)


def _of_request(request: AuditRecord) -> Met:
    # Whoever sends a request may choose its audit id, so the time belongs to the key.
    key = f"{request.audit_id} {request.received_at.isoformat()}"
    run = request.name if request.resource == LAB_RUNS.plural else None
    return Met(key=key, what=f"{request.verb} {request.resource} {request.name}", run=run or None)
