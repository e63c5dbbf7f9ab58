"""The API server's audit log as evidence: markers, the agent's slice, and what is still in flight.

Attribution is by `user.username` without impersonation, never by field managers or Events. The
marks travel in a URL, because a request that RBAC refuses keeps neither name nor body.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from harness.errors import EvidenceGapError
from harness.kube.client import KubeClient
from harness.kube.refusals import who_refused
from harness.kube.resources import LAB_RUNS
from harness.model.evidence import AuditRecord

#: Query parameter of a marker; the API server ignores and records what it does not know.
_MARK = "strandlineMark"

#: Stages after which nothing more comes for a request.
_ENDS = frozenset({"ResponseComplete", "Panic"})

_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


class AuditLog:
    """A log file that one API server appends to, one JSON event a line, each before its answer."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def end(self) -> int:
        """Return the offset in bytes behind the last event."""
        return self._path.stat().st_size

    def read(self, since: int) -> list[dict[str, Any]]:
        """Return the events from an offset on; a line still being written is left out."""
        with self._path.open("rb") as file:
            file.seek(since)
            data = file.read()
        return [json.loads(line) for line in data.split(b"\n")[:-1] if line]


def mark(client: KubeClient, namespace: str, text: str) -> None:
    """Send one harmless read whose URL carries `text`, so that the log has it in order."""
    client.call("GET", LAB_RUNS.path(namespace), query={"limit": "1", _MARK: text})


def slice_of(
    events: Sequence[Mapping[str, Any]], *, user: str, start: str, end: str
) -> tuple[AuditRecord, ...]:
    """Return the requests of `user` between two markers, in order of arrival. Pure.

    Raises:
        EvidenceGapError: A marker is missing, stands twice, or they are out of order.
    """
    first, last = _position(events, start), _position(events, end)
    if first >= last:
        msg = f"audit log: marker {end!r} comes before {start!r}"
        raise EvidenceGapError(msg)
    requests: dict[str, list[Mapping[str, Any]]] = {}
    for event in events[first:last]:
        if _by(event, user):
            requests.setdefault(event["auditID"], []).append(event)
    records = [_record(stages) for stages in requests.values()]
    return tuple(sorted(records, key=lambda record: (record.received_at, record.audit_id)))


def in_flight(events: Iterable[Mapping[str, Any]], user: str) -> frozenset[str]:
    """Return the audit ids of the writes of `user` that have begun and not ended. Pure."""
    begun, ended = set(), set()
    for event in events:
        if _by(event, user):
            (ended if event["stage"] in _ENDS else begun).add(event["auditID"])
    return frozenset(begun - ended)


def _by(event: Mapping[str, Any], user: str) -> bool:
    return event.get("user", {}).get("username") == user and "impersonatedUser" not in event


def _position(events: Sequence[Mapping[str, Any]], text: str) -> int:
    found = [
        index
        for index, event in enumerate(events)
        if event["stage"] == "ResponseComplete"
        and text in parse_qs(urlsplit(event["requestURI"]).query).get(_MARK, ())
    ]
    if len(found) != 1:
        msg = f"audit log: marker {text!r} found {len(found)} times, expected once"
        raise EvidenceGapError(msg)
    return found[0]


def _record(stages: Sequence[Mapping[str, Any]]) -> AuditRecord:
    first, last = stages[0], stages[-1]
    reference = last.get("objectRef", {})
    status = last.get("responseStatus", {})
    ended = last["stage"] in _ENDS
    code = int(status.get("code", 0)) if ended or last["stage"] == "ResponseStarted" else 0
    body = last.get("requestObject", first.get("requestObject"))
    writes = last["verb"] in _WRITES
    return AuditRecord(
        audit_id=last["auditID"],
        received_at=first["requestReceivedTimestamp"],
        completed_at=last["stageTimestamp"] if ended else None,
        user=last["user"]["username"],
        verb=last["verb"],
        group=reference.get("apiGroup", ""),
        resource=reference.get("resource", ""),
        subresource=reference.get("subresource", ""),
        namespace=reference.get("namespace", ""),
        name=reference.get("name") or _name_of(last.get("responseObject")),
        code=code,
        refused_by=_refuser(last, code),
        dry_run=_is_dry_run(last["requestURI"], body),
        body=body if writes else None,
    )


def _name_of(response: Any) -> str:
    """Return the name that the server made up for a generateName create."""
    metadata = response.get("metadata") if isinstance(response, dict) else None
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _refuser(event: Mapping[str, Any], code: int) -> str | None:
    if code < 400:
        return None
    if event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid":
        return "rbac"
    return who_refused(code, str(event.get("responseStatus", {}).get("message", ""))) or "other"


def _is_dry_run(uri: str, body: Any) -> bool:
    """Tell by the URL, or by the body, where kubectl puts it for a delete."""
    if "All" in parse_qs(urlsplit(uri).query).get("dryRun", ()):
        return True
    return isinstance(body, dict) and "All" in (body.get("dryRun") or ())
