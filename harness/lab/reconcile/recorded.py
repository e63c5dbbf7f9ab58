"""How a LabEvent is named and made.

Pure. The name of an event is made of what it is about, so that creating it again is refused by the
API server. Knows nothing of when an event is due.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from harness.lab.policy import PolicyDecision
from harness.lab.reconcile.actions import Create, api_version
from harness.model.lab import EventType, LabEventSpec, LabRun, LabTask

#: Characters of a UID in an event's name: a later object of the same name must not share events.
UID_CHARS = 8


def policy_event(run: LabRun, task: LabTask, decision: PolicyDecision, now: datetime) -> Create:
    """Return the event of one evaluation; one more only where the answer changed. Pure."""
    effect = decision.effect.replace("_", "-")  # no object name may hold an underscore
    key = f"{run.status.observed_resume_count}-{len(task.status.dispatches) + 1}-{effect}"
    payload = {
        "capability": task.spec.capability,
        "effect": decision.effect,
        "rule": decision.rule,
        "reason": decision.reason,
    }
    event = build_event(
        task,
        EventType.POLICY_EVALUATED,
        key,
        run=run.name,
        at=now,
        actor=run.requested_by,
        payload=payload,
    )
    # No history holds an evaluation, so it goes before the dispatch, and stops it where it fails.
    return replace(event, subject=run.name, may_wait=False)


def event_name(name: str, uid: str, kind: EventType, key: str) -> str:
    """Return the name of the event of that kind about an object; the same for ever. Pure."""
    return f"{name}-{uid[:UID_CHARS]}-{kind.lower()}-{key}"


def build_event(
    about: LabRun | LabTask,
    kind: EventType,
    key: str,
    *,
    run: str,
    at: datetime,
    actor: str,
    payload: dict[str, Any],
) -> Create:
    """Return the event of a kind about an object; `key` tells those of one kind apart. Pure."""
    spec = LabEventSpec(
        type=kind,
        run=run,
        task=about.name if isinstance(about, LabTask) else "",
        actor=actor,
        at=at,
        payload=payload,
    )
    name = event_name(about.name, about.uid, kind, key)
    manifest = {
        "apiVersion": api_version(),
        "kind": "LabEvent",
        "metadata": {"name": name},
        "spec": spec.model_dump(mode="json", by_alias=True),
    }
    return Create(subject=f"event {name}", kind="LabEvent", manifest=manifest, may_wait=True)
