"""What the agent did meets a trigger, or does not, by one property at a time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from harness.bench.story.triggers import Seen, things_met
from harness.model.evidence import AuditRecord
from harness.model.story import Trigger

AGENT = "system:serviceaccount:lab:agent"
AT = datetime(2026, 1, 1, tzinfo=UTC)


def _event(kind: str = "TaskSucceeded", *, actor: str = AGENT, **payload: Any) -> dict[str, Any]:
    spec = {"type": kind, "actor": actor, "run": "mine", "payload": payload}
    return {"metadata": {"uid": f"uid-{kind}", "name": kind.lower()}, "spec": spec}


def _request(**changes: Any) -> AuditRecord:
    record: dict[str, Any] = {
        "audit_id": "one",
        "received_at": AT,
        "completed_at": AT,
        "user": AGENT,
        "verb": "create",
        "group": "lab.strandline.dev",
        "resource": "labruns",
        "subresource": "",
        "namespace": "lab",
        "name": "mine",
        "code": 201,
        "refused_by": None,
        "dry_run": False,
        "body": {"spec": {"steps": [{"capability": "sim.mix_color"}]}},
    }
    return AuditRecord.model_validate({**record, **changes})


def _met(trigger: Trigger, *, events: Any = (), requests: Any = ()) -> list[str | None]:
    seen = Seen(agent_user=AGENT, events=events, requests=requests, observing={"sim.weigh"})
    return [met.run for met in things_met(trigger, seen)]


@pytest.mark.parametrize(
    ("trigger", "event", "met"),
    [
        ({"event": "TaskFailed"}, _event("TaskFailed"), True),
        ({"event": "TaskFailed"}, _event("TaskSucceeded"), False),
        ({"event": "TaskFailed"}, _event("TaskFailed", actor="somebody"), False),
        ({"event": "TaskFailed", "reason": "a"}, _event("TaskFailed", reason="a"), True),
        ({"event": "TaskFailed", "reason": "a"}, _event("TaskFailed", reason="b"), False),
        ({"event": "TaskFailed", "reason": "a"}, _event("TaskFailed"), False),
        ({"event": "TaskFailed", "capability": "x"}, _event("TaskFailed", capability="x"), True),
        ({"event": "TaskFailed", "capability": "x"}, _event("TaskFailed", capability="y"), False),
        (
            {"event": "RunCreated", "capability": "x"},
            _event("RunCreated", capabilities=["x"]),
            True,
        ),
        ({"looked": True}, _event(capability="sim.weigh"), True),
        ({"looked": True}, _event(capability="sim.mix"), False),
        ({"looked": True}, _event("TaskFailed", capability="sim.weigh"), False),
        ({"looked": True}, _event(actor="somebody", capability="sim.weigh"), False),
    ],
)
def test_an_event_meets_a_trigger_when_all_of_it_holds(
    trigger: dict[str, Any], event: dict[str, Any], *, met: bool
) -> None:
    assert _met(Trigger.model_validate(trigger), events=[event]) == (["mine"] if met else [])


@pytest.mark.parametrize(
    ("trigger", "changes", "met"),
    [
        ({"created": "labruns"}, {}, True),
        ({"created": "labruns"}, {"verb": "patch"}, True),
        ({"created": "labruns"}, {"code": 200, "verb": "patch"}, False),
        ({"created": "labruns"}, {"code": 403}, False),
        ({"created": "labruns"}, {"dry_run": True}, False),
        ({"created": "labruns"}, {"resource": "notes"}, False),
        ({"created": "labruns"}, {"subresource": "status"}, False),
        ({"created": "labruns", "capability": "sim.mix_color"}, {}, True),
        ({"created": "labruns", "capability": "sim.other"}, {}, False),
        ({"created": "labruns", "capability": "sim.mix_color"}, {"body": "no JSON"}, False),
        ({"created": "labruns", "capability": "sim.mix_color"}, {"body": {"spec": []}}, False),
        ({"created": "labruns", "capability": "x"}, {"body": {"spec": {"steps": 5}}}, False),
        ({"touched": "mine"}, {}, True),
        ({"touched": "mine"}, {"verb": "get", "code": 200}, True),
        ({"touched": "mine"}, {"verb": "delete", "code": 403}, True),
        ({"touched": "other"}, {}, False),
    ],
)
def test_a_request_meets_a_trigger_when_all_of_it_holds(
    trigger: dict[str, Any], changes: dict[str, Any], *, met: bool
) -> None:
    found = _met(Trigger.model_validate(trigger), requests=[_request(**changes)])

    assert bool(found) is met


def test_two_requests_with_one_audit_id_are_two_things() -> None:
    later = _request(received_at=AT.replace(second=1))
    seen = Seen(agent_user=AGENT, requests=[_request(), later])

    keys = [met.key for met in things_met(Trigger(touched="mine"), seen)]

    assert len(set(keys)) == 2
