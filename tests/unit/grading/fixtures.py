"""Builders of evidence: small objects as the API server returns them, and bundles of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from harness.core.files import append_line, write_json
from harness.grading.bundle import EVIDENCE_DIR
from harness.grading.scoring import grade
from harness.grading.view import ATTESTATIONS, EVENTS, RUNS, TASKS
from harness.kube.resources import LAB_GROUP
from harness.model.agent import AgentOutcome
from harness.model.checks import Check
from harness.model.evidence import AttemptRecord, AuditRecord, Evidence, Failure
from harness.model.results import AttemptResult, CheckOutcome, to_json

NAMESPACE = "lab-7f3a91c2"
AGENT = f"system:serviceaccount:{NAMESPACE}:agent"
OPERATOR = f"system:serviceaccount:{NAMESPACE}:previous-operator"
COLLEAGUE = f"system:serviceaccount:{NAMESPACE}:colleague"
AT = "2026-11-30T01:45:12Z"

MIX = "sim.mix_color"
MEASURE = "sim.measure_color"
MOVE = "sim.move_labware"

Objects = Mapping[str, Iterable[dict[str, Any]]]

_CHECK: TypeAdapter[Check] = TypeAdapter(Check)


def check(kind: str, *, weight: float = 1.0, **params: Any) -> Check:
    """Return a check as a task file would give it."""
    described = {"kind": kind, "description": f"the check {kind}", "weight": weight, **params}
    return _CHECK.validate_python(described)


def _object(name: str, uid: str | None, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE, "uid": uid or f"uid-of-{name}"}
    return {"metadata": metadata, "spec": spec}


def run(
    name: str = "mix",
    state: str = "completed",
    *,
    operator: str = AGENT,
    uid: str | None = None,
    capabilities: tuple[str, ...] = (MIX,),
    **spec: Any,
) -> dict[str, Any]:
    """Return a LabRun; further keywords are fields of its spec."""
    steps = [{"id": f"s{n}", "capability": item} for n, item in enumerate(capabilities)]
    made = _object(name, uid, {"operator": operator, "steps": steps, **spec})
    return {**made, "status": {"state": state}}


def dispatch(n: int = 1, by: str = AGENT, *, task: str = "mix-s0", answered: bool = True) -> Any:
    """Return one entry of a LabTask's dispatches."""
    entry = {
        "n": n,
        "requestId": f"{task}-{n}",
        "requestedBy": by,
        "instrument": "mixer-1",
        "fencingToken": n,
        "sentAt": AT,
    }
    return {**entry, "answeredAt": AT} if answered else entry


def task(
    name: str = "mix-s0",
    state: str = "succeeded",
    *,
    capability: str = MIX,
    dispatches: list[Any] | None = None,
    attestation: str = "",
) -> dict[str, Any]:
    """Return a LabTask that the agent dispatched once, unless told otherwise."""
    made = _object(name, None, {"run": "mix", "step": "s0", "capability": capability})
    sent = [dispatch(task=name)] if dispatches is None else dispatches
    return {**made, "status": {"state": state, "dispatches": sent, "attestation": attestation}}


def event(
    kind: str, *, actor: str = AGENT, number: int = 1, run: str = "", **payload: Any
) -> dict[str, Any]:
    """Return a LabEvent; further keywords are its payload."""
    spec = {"type": kind, "actor": actor, "at": AT, "run": run, "payload": payload}
    return _object(f"{kind.lower()}-{number}", None, spec)


def attestation(
    basis: str = "balance-1 read 5.0 g",
    *,
    by: str = AGENT,
    accepted: bool = True,
    finding: str = "completed",
    target: str = "night-s0",
) -> dict[str, Any]:
    """Return an Attestation that the controller decided on."""
    spec = {"task": target, "finding": finding, "basis": basis, "attestedBy": by}
    return {**_object(f"{target}-1", None, spec), "status": {"accepted": accepted}}


def record(
    verb: str = "create",
    *,
    name: str = "mix",
    code: int = 201,
    refused_by: str | None = None,
    body: Any = None,
    user: str = AGENT,
    **changes: Any,
) -> AuditRecord:
    """Return an audit record of a write of LabRuns."""
    fields = {
        "audit_id": "audit-1",
        "received_at": AT,
        "completed_at": AT,
        "user": user,
        "verb": verb,
        "group": LAB_GROUP,
        "resource": "labruns",
        "subresource": "",
        "namespace": NAMESPACE,
        "name": name,
        "code": code,
        "refused_by": refused_by,
        "dry_run": False,
        "body": body,
    }
    return AuditRecord.model_validate({**fields, **changes})


def manifest(*capabilities: str) -> dict[str, Any]:
    """Return a LabRun as an agent sends it."""
    return run(capabilities=capabilities)


def snapshot(
    *,
    runs: Iterable[dict[str, Any]] = (),
    tasks: Iterable[dict[str, Any]] = (),
    attestations: Iterable[dict[str, Any]] = (),
    events: Iterable[dict[str, Any]] = (),
) -> dict[str, tuple[dict[str, Any], ...]]:
    """Return objects by qualified kind."""
    return {
        RUNS: tuple(runs),
        TASKS: tuple(tasks),
        ATTESTATIONS: tuple(attestations),
        EVENTS: tuple(events),
    }


def attempt(
    *checks: Check,
    agent: AgentOutcome | None = AgentOutcome(seconds=4.2),  # noqa: B008 - frozen
    failure: Failure | None = None,
) -> AttemptRecord:
    """Return attempt.json of an attempt whose agent ended by itself, unless told otherwise."""
    return AttemptRecord(
        run_id="20261130-014512-7f3a91",
        task_id="settle-a-stopped-run",
        category="recover",
        number=1,
        attempt_id="7f3a91c2",
        seed=7,
        namespace=NAMESPACE,
        user=AGENT,
        checks=checks,
        agent=agent,
        failure=failure,
        seconds={"provision": 1.0, "act": 4.2},
    )


def evidence(
    *checks: Check,
    baseline: Objects | None = None,
    final: Objects | None = None,
    events: Iterable[dict[str, Any]] = (),
    audit: Iterable[AuditRecord] = (),
    agent: AgentOutcome | None = AgentOutcome(seconds=4.2),  # noqa: B008 - frozen
    failure: Failure | None = None,
) -> Evidence:
    """Return evidence; what is not given is empty."""
    return Evidence(
        attempt=attempt(*checks, agent=agent, failure=failure),
        baseline={kind: tuple(objects) for kind, objects in (baseline or snapshot()).items()},
        final={kind: tuple(objects) for kind, objects in (final or snapshot()).items()},
        events=tuple(events),
        audit=tuple(audit),
    )


def graded(*checks: Check, **parts: Any) -> AttemptResult:
    """Return the result of evidence that is built as `evidence` builds it."""
    return grade(evidence(*checks, **parts), "0" * 64)


def outcome(one: Check, **parts: Any) -> CheckOutcome:
    """Return what one check showed."""
    (found,) = graded(one, **parts).checks
    return found


def write_bundle(attempt_dir: Path, found: Evidence, *, only_attempt: bool = False) -> Path:
    """Write evidence as bench does, not sealed; return the folder of the files."""
    folder = attempt_dir / EVIDENCE_DIR
    write_json(folder / "attempt.json", to_json(found.attempt))
    if only_attempt:
        return folder
    for name in ("baseline", "final", "events", "instruments", "drift", "truth"):
        write_json(folder / f"{name}.json", getattr(found, name))
    if found.audit is not None:
        (folder / "audit.jsonl").touch()
    for line in found.audit or ():
        append_line(folder / "audit.jsonl", line.model_dump(mode="json", by_alias=True))
    return folder
