"""Bring what happened into the bundle: objects, events, audit slice, journals, drift, truth."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from harness.bench.rundir import AttemptDir
from harness.bench.world import World
from harness.core.files import canonical_json, write_atomic, write_json
from harness.errors import EvidenceGapError
from harness.kube.audit import slice_of
from harness.kube.client import KubeClient
from harness.kube.resources import (
    CONFIG_MAPS,
    LAB_EVENTS,
    LAB_KINDS,
    LAB_TASKS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    Resource,
)
from harness.terraform.outcomes import Change

Objects = dict[str, list[dict[str, Any]]]

#: Kinds that a snapshot holds; LabEvents have a file of their own.
_KINDS = (
    *(kind for kind in LAB_KINDS if kind is not LAB_EVENTS),
    CONFIG_MAPS,
    SERVICE_ACCOUNTS,
    ROLES,
    ROLE_BINDINGS,
)

#: Kinds that the manifests make and nobody may change during an attempt. A plan sees only the
#: fields that a manifest names, so UID and content are compared beside it.
_FIXED_KINDS = frozenset(
    {
        "instruments",
        "capabilities",
        "labpolicies",
        "configmaps",
        "serviceaccounts",
        "roles",
        "rolebindings",
    }
)

#: What the API server says of an audit event that it could not store. Only as the text of a line:
#: further on, lines hold what callers sent (an `Audit-ID`, for one). A container runtime puts time,
#: stream and F or P before each line. Source: k8s.io/apiserver pkg/audit/metrics.go.
_LOST_RECORD = re.compile(
    rb"""^(?:\S+ std(?:out|err) [FP] )?E\d{4} [^\]\n"]*\] "?Error in audit plugin""", re.MULTILINE
)

#: Metadata by which somebody can change what becomes of an object.
_STEERING = ("labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp")

#: Metadata that says nothing about what an object is.
_NOISE = ("managedFields",)

#: The harness grants and revokes it around the act.
_AGENT_BINDING = ("rolebindings.rbac.authorization.k8s.io", "agent")


def snapshot(client: KubeClient, namespace: str) -> Objects:
    """Return qualified kind to objects of a namespace, sorted by name, managedFields left out."""

    def objects(kind: Resource) -> tuple[str, list[dict[str, Any]]]:
        return kind.qualified, [
            _plain(item) for item in client.list_objects(kind, namespace=namespace)
        ]

    with ThreadPoolExecutor(len(_KINDS)) as pool:
        return dict(pool.map(objects, _KINDS))


def collect(
    world: World, bundle: AttemptDir, *, baseline: Objects, since: int, start: str, end: str
) -> None:
    """Write the evidence of an attempt that was frozen.

    Args:
        world: The attempt's laboratory, its processes still up.
        bundle: Where it goes.
        baseline: Snapshot from just before the start marker.
        since: Offset in the audit log before the start marker.
        start: Text of the start marker.
        end: Text of the end marker.

    Raises:
        EvidenceGapError: The record has a hole of our making.
    """
    client, namespace, audit = world.session.client, world.namespace, world.session.audit
    with ThreadPoolExecutor(1) as pool:
        drift = pool.submit(world.stack.drift)
        final = snapshot(client, namespace)
        events = sorted(
            (_plain(item) for item in client.list_objects(LAB_EVENTS, namespace=namespace)),
            key=lambda item: int(item["metadata"]["resourceVersion"]),
        )
        # Where nobody records, no file is written: an empty one would say that nothing was done.
        records = (
            slice_of(audit.read(since), user=world.agent_user, start=start, end=end)
            if audit
            else None
        )
        journal = world.journal()
        changes = drift.result()
    _refuse_lost_records(world)
    folder = bundle.evidence
    write_json(folder / "baseline.json", baseline)
    write_json(folder / "final.json", final)
    write_json(folder / "events.json", events)
    lines = [
        canonical_json(record.model_dump(mode="json", by_alias=True)) + b"\n"
        for record in records or ()
    ]
    if records is not None:
        write_atomic(folder / "audit.jsonl", b"".join(lines))
    write_json(folder / "instruments.json", journal)
    write_json(folder / "drift.json", drift_of(changes, baseline, final))
    write_json(folder / "truth.json", truth_of(baseline, journal))


def drift_of(changes: Sequence[Change], baseline: Objects, final: Objects) -> dict[str, Any]:
    """Return what changed in what we made: by Terraform's plan, and by UID and content. Pure."""
    return {
        "terraform": [
            {"address": change.address, "actions": list(change.actions)} for change in changes
        ],
        "objects": [
            f"{kind} {name}: {what}"
            for kind in sorted(baseline.keys() | final.keys())
            if kind.partition(".")[0] in _FIXED_KINDS
            for name, what in _differences(baseline.get(kind, []), final.get(kind, []))
            if (kind, name) != _AGENT_BINDING
        ],
    }


def _differences(
    before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]
) -> list[tuple[str, str]]:
    old = {item["metadata"]["name"]: item for item in before}
    new = {item["metadata"]["name"]: item for item in after}
    found = []
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            found.append((name, "deleted"))
        elif name not in old:
            found.append((name, "created"))
        elif old[name]["metadata"]["uid"] != new[name]["metadata"]["uid"]:
            found.append((name, "replaced"))
        elif _content(old[name]) != _content(new[name]):
            found.append((name, "changed"))
    return found


def _content(item: Mapping[str, Any]) -> dict[str, Any]:
    metadata = item["metadata"]
    rest = {key: value for key, value in item.items() if key not in {"metadata", "status"}}
    return {**rest, "metadata": {key: metadata.get(key) for key in _STEERING}}


def truth_of(baseline: Objects, journal: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what each call that was stranded at baseline really did. Pure."""
    calls = []
    for task in baseline[LAB_TASKS.qualified]:
        status = task.get("status", {})
        if status.get("state") != "intervention_required":
            continue
        request_id = status["dispatches"][-1]["requestId"]
        seen = [entry["event"] for entry in journal if entry.get("requestId") == request_id]
        calls.append(
            {
                "task": task["metadata"]["name"],
                "requestId": request_id,
                "truth": _truth(seen),
                "journal": seen,
            }
        )
    return {"calls": calls}


def _truth(seen: Sequence[str]) -> str:
    if "finished" in seen:
        return "completed"
    return "abandoned" if "started" in seen else "did_not_occur"


def _refuse_lost_records(world: World) -> None:
    """Refuse to go on when the API server says that it could not store an audit event."""
    for log in world.session.cluster.api_server_log_paths():
        try:
            text = log.read_bytes()
        except OSError as error:  # a container's new log may be root's alone
            msg = f"{log}: {error.strerror}, so nobody knows whether audit events were lost"
            raise EvidenceGapError(msg, hint="run as a user who may read it") from error
        if _LOST_RECORD.search(text):
            msg = f"the API server lost audit events; see {log}"
            raise EvidenceGapError(msg, hint="free space on the disk")


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in item["metadata"].items() if key not in _NOISE}
    return {**item, "metadata": metadata}
