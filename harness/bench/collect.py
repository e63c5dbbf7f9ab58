"""Bring what happened into the bundle: objects, events, audit slice, journals, drift, truth."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from harness.bench.happened import Objects, truth_record
from harness.bench.rundir import AttemptDir
from harness.bench.world import AGENT_BINDINGS, World
from harness.core.files import write_atomic, write_json
from harness.errors import EvidenceGapError
from harness.kube.audit import credential_of_token, slice_of
from harness.kube.client import KubeClient
from harness.kube.resources import (
    CONFIG_MAPS,
    LAB_EVENTS,
    LAB_KINDS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    Resource,
)
from harness.model.chain import Chain, chained
from harness.terraform.outcomes import Change

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


def snapshot(client: KubeClient, namespace: str) -> Objects:
    """Return qualified kind to objects of a namespace, sorted by name, managedFields left out."""

    def objects(kind: Resource) -> tuple[str, list[dict[str, Any]]]:
        return kind.qualified, [
            _plain(item) for item in client.list_objects(kind, namespace=namespace)
        ]

    with ThreadPoolExecutor(len(_KINDS)) as pool:
        return dict(pool.map(objects, _KINDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What was so when the agent began.

    Attributes:
        objects: Snapshot from just before the start marker.
        vessels: Vessel to what was in it.
        drawn: Name of the truth; None where nothing is hidden.
    """

    objects: Objects
    vessels: Mapping[str, Any]
    drawn: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Which part of the audit log is the agent's.

    Attributes:
        since: Offset in bytes before the start marker.
        start: Text of the start marker.
        end: Text of the end marker.
        token: The agent's token.
    """

    since: int
    start: str
    end: str
    token: str = field(repr=False)


def collect(world: World, bundle: AttemptDir, *, before: Before, part: Slice) -> Chain | None:
    """Write the evidence of an attempt that was frozen.

    Args:
        world: The attempt's laboratory, its processes still up.
        bundle: Where it goes.
        before: What was so when the agent began.
        part: The agent's part of the audit log.

    Returns:
        What the lines of audit.jsonl come to; None where nobody records.

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
            slice_of(
                audit.read(part.since, user=world.agent_user),
                user=world.agent_user,
                start=part.start,
                end=part.end,
                credential=credential_of_token(part.token),
            )
            if audit
            else None
        )
        journal, vessels = world.journal(), world.vessels()
        changes = drift.result()
    _refuse_lost_records(world)
    folder = bundle.evidence
    write_json(folder / "baseline.json", before.objects)
    write_json(folder / "final.json", final)
    write_json(folder / "events.json", events)
    chain = None
    if records is not None:
        lines = [record.model_dump(mode="json", by_alias=True) for record in records]
        content, chain = chained(lines, start=part.start)
        write_atomic(folder / "audit.jsonl", content)
    write_json(folder / "instruments.json", journal)
    write_json(folder / "drift.json", drift_of(changes, before.objects, final))
    truth = truth_record(
        before.objects,
        journal,
        drawn=before.drawn,
        vessels_before=before.vessels,
        vessels=vessels,
    )
    write_json(folder / "truth.json", truth)
    return chain


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
            # Deleted when the act ends, so that their going is nobody's doing but ours.
            if kind != ROLE_BINDINGS.qualified or name not in AGENT_BINDINGS
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
