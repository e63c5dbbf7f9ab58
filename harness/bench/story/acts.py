"""One act of a story, done as its person by a real request, with a witness of what came of it.

Nothing is ever written into a status. Refuses to know whose turn it is: `history` has an order, and
`cast` has triggers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from harness.bench.story.calls import Eyes, Object
from harness.bench.story.interruptions import late_answer
from harness.bench.story.work import Witness, manifest_of, resume_run, start_run, uids_of
from harness.errors import ClusterError
from harness.kube.resources import (
    APPROVALS,
    ATTESTATIONS,
    CONFIG_MAPS,
    LAB_RUNS,
    LAB_TASKS,
    NOTES,
    Resource,
)
from harness.model.story import Act
from harness.model.verbs import ApproveAct, AttestAct, NoteAct

#: Key of standing orders in their ConfigMap.
_ORDERS_KEY = "orders"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Where an act is done, and what led to it.

    Attributes:
        eyes: What the harness sees.
        run: The run of the agent's that the act answers to, where there is one.
    """

    eyes: Eyes
    run: str | None = None


def perform(act: Act, scene: Scene) -> Witness:
    """Do one act, wait for what it is to lead to, and return the witness.

    Raises:
        KubeError: The request was refused.
        ClusterError: It came to another end than it must.
        WaitTimeoutError: What it is to lead to did not come about.
    """
    verb = act.verbs[0]
    at = scene.eyes.clock.now().isoformat()
    facts = _VERBS[verb](act, scene)
    by = "harness" if verb in _HARNESS_VERBS else act.by
    return {"act": verb, "by": by, "at": at, **facts}


def _cancel(act: Act, scene: Scene) -> Witness:
    run, eyes = _set(act.cancel).run, scene.eyes
    eyes.stage.client_as(act.by).patch(
        LAB_RUNS, run, {"spec": {"cancelRequested": True}}, namespace=eyes.stage.namespace
    )
    eyes.until(
        lambda: bool(eyes.run(run).get("status", {}).get("observedCancelRequested")),
        bool,
        f"cancellation of run {run}",
    )
    return {"run": run, "uids": uids_of(run, eyes)}


def _attest(act: Act, scene: Scene) -> Witness:
    asked: AttestAct = _set(act.attest)
    eyes = scene.eyes
    name = _numbered(ATTESTATIONS, asked.task, eyes)
    spec = {"task": asked.task, "finding": asked.finding, "basis": asked.basis}
    made = _create(ATTESTATIONS, name, eyes, by=act.by, spec=spec)

    def decided() -> Object | None:
        found = eyes.stage.client.get(ATTESTATIONS, name, namespace=eyes.stage.namespace)
        status: Object = found.get("status", {})
        return status if status.get("accepted") is not None else None

    status = eyes.some(decided, f"decision about attestation {name}")
    return {
        "attestation": name,
        "uids": {"attestation": made["metadata"]["uid"]},
        "accepted": status["accepted"],
        "reason": status.get("reason", ""),
        "task": asked.task,
        "finding": asked.finding,
    }


def _note(act: Act, scene: Scene) -> Witness:
    asked: NoteAct = _set(act.note)
    spec = {
        "subject": {"kind": asked.kind, "name": asked.subject},
        "reason": asked.reason,
        "text": asked.text,
    }
    made = _create(NOTES, asked.name, scene.eyes, by=act.by, spec=spec)
    return {"note": asked.name, "uids": {"note": made["metadata"]["uid"]}}


def _approve(act: Act, scene: Scene) -> Witness:
    asked: ApproveAct = _set(act.approve)
    eyes = scene.eyes
    run = asked.run or scene.run or eyes.some(lambda: _waiting(eyes), "a run that waits")["name"]
    spec: Object = {"run": run, "decision": asked.decision, "reason": asked.reason}
    if asked.decision == "granted":
        ends_at = eyes.clock.now() + timedelta(seconds=asked.expires_after_seconds)
        spec["expiresAt"] = ends_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    made = _create(APPROVALS, _numbered(APPROVALS, run, eyes), eyes, by=act.by, spec=spec)
    name, uid = made["metadata"]["name"], made["metadata"]["uid"]
    return {"run": run, "approval": name, "uids": {"approval": uid}, "decision": asked.decision}


def _waiting(eyes: Eyes) -> Object | None:
    """Return the metadata of the agent's run that waits for an approval."""
    runs = {item["metadata"]["name"]: item for item in eyes.all_of(LAB_RUNS)}
    for task in eyes.all_of(LAB_TASKS):
        run = runs.get(task["spec"]["run"])
        waits = task.get("status", {}).get("state") == "waiting_for_authorization"
        if waits and run and run["spec"].get("operator") == eyes.stage.agent_user:
            metadata: Object = run["metadata"]
            return metadata
    return None


def _orders(act: Act, scene: Scene) -> Witness:
    asked, stage = _set(act.orders), scene.eyes.stage
    data = {"data": {_ORDERS_KEY: asked.text}}
    if stage.client.find(CONFIG_MAPS, asked.name, namespace=stage.namespace):
        made = stage.client.patch(CONFIG_MAPS, asked.name, data, namespace=stage.namespace)
    else:
        manifest = manifest_of(CONFIG_MAPS, asked.name, scene.eyes, **data)
        made = stage.client.create(CONFIG_MAPS, manifest, namespace=stage.namespace)
    return {"orders": asked.name, "uids": {"orders": made["metadata"]["uid"]}}


def _hold(act: Act, scene: Scene) -> Witness:
    return _at_instrument(scene.eyes, _set(act.hold).instrument, "held")


def _let_go(act: Act, scene: Scene) -> Witness:
    return _at_instrument(scene.eyes, _set(act.let_go).instrument, "let_go")


def _at_instrument(eyes: Eyes, instrument: str, event: str) -> Witness:
    before = len(eyes.stage.instruments.journal())
    instruments = eyes.stage.instruments
    (instruments.hold if event == "held" else instruments.let_go)(instrument)
    entry = eyes.instrument_entry(event, instrument, after=before)
    return {"instrument": instrument, "journal": event, "journalAt": entry["at"]}


def _release(act: Act, scene: Scene) -> Witness:
    asked, eyes = _set(act.release), scene.eyes
    calls = eyes.dispatches(asked.task)
    number = asked.number or len(calls)
    call = next((one for one in calls if one["n"] == number), None)
    if call is None:
        msg = f"story: {asked.task} has {len(calls)} calls, number {number} cannot be answered"
        raise ClusterError(msg, hint="name one that was made")
    request_id = call["requestId"]
    eyes.stage.instruments.release(request_id)
    released = eyes.entry("released", request_id)
    facts: Witness = {"requestId": request_id, "releasedAt": released["at"]}
    if eyes.task(asked.task)["status"]["state"] != "running":
        facts["lateAnswer"] = late_answer(eyes, request_id)["metadata"]["name"]
    return facts


def _create(resource: Resource, name: str, eyes: Eyes, *, by: str, spec: Object) -> Object:
    manifest = manifest_of(resource, name, eyes, spec=spec)
    client, namespace = eyes.stage.client_as(by), eyes.stage.namespace
    return client.create(resource, manifest, namespace=namespace)


def _numbered(resource: Resource, about: str, eyes: Eyes) -> str:
    """Return the first name `<about>-<n>` that is not taken."""
    taken = {item["metadata"]["name"] for item in eyes.all_of(resource)}
    return next(name for n in range(1, len(taken) + 2) if (name := f"{about}-{n}") not in taken)


def _set(value: Any) -> Any:
    if value is None:  # pragma: no cover - an act has the verb that it was looked up by
        raise AssertionError
    return value


_HARNESS_VERBS = frozenset({"orders", "hold", "let_go", "release"})

_VERBS: Mapping[str, Callable[[Act, Scene], Witness]] = {
    "run": lambda act, scene: start_run(_set(act.run), act.by, scene.eyes),
    "resume": lambda act, scene: resume_run(_set(act.resume), act.by, scene.eyes),
    "cancel": _cancel,
    "attest": _attest,
    "note": _note,
    "approve": _approve,
    "orders": _orders,
    "hold": _hold,
    "let_go": _let_go,
    "release": _release,
}
