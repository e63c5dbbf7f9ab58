"""The API server's audit log as evidence: markers, the agent's slice, and what is still in flight.

Attribution is by `user.username` without impersonation, never by field managers or Events. The
marks travel in a URL, because a request that RBAC refuses keeps neither name nor body.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from harness.errors import EvidenceGapError
from harness.kube.client import KubeClient
from harness.kube.refusals import who_refused
from harness.kube.resources import LAB_RUNS
from harness.model.evidence import AuditRecord

#: Query parameter of a marker; the API server ignores and records what it does not know.
_MARK = "strandlineMark"

#: Stages after which nothing more comes for a request.
_ENDS = frozenset({"ResponseComplete", "Panic"})

#: Levels of nesting that a body may have; beyond, it is kept as text. A CRD has under 30, and the
#: JSON of pydantic ends at 255.
_DEPTH_LIMIT = 100

_DELETES = frozenset({"delete", "deletecollection"})
_WRITES = _DELETES | {"create", "update", "patch"}


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
        return [_event(line) for line in data.split(b"\n")[:-1] if line]


def _event(line: bytes) -> dict[str, Any]:
    """Return the event of a line, with a body that we cannot read kept as text.

    A patch is logged as it was sent: the API server takes nesting, numbers and bytes that are no
    JSON of ours, and a caller must not become invisible, or spoil the record, by sending them.
    """
    try:
        event: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError):
        return _with_text_body(line)
    return _with_text_body(line) if _nests_deeper(event, _DEPTH_LIMIT) else event


def _with_text_body(line: bytes) -> dict[str, Any]:
    # No string can hold these keys: a quote inside of one is escaped. The server writes the body
    # first and its own fields last, so what a body holds cannot move the edges.
    head, _, rest = line.partition(b',"requestObject":')
    bodies, _, tail = rest.rpartition(b',"requestReceivedTimestamp":')
    text, _, _ = bodies.rpartition(b',"responseObject":')
    event: dict[str, Any] = json.loads(head + b',"requestReceivedTimestamp":' + tail)
    return {**event, "requestObject": (text or bodies).decode(errors="replace")}


def _nests_deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    return bool(level)


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
    first, last = _position(events, start, user), _position(events, end, user)
    if first >= last:
        msg = f"audit log: marker {end!r} comes before {start!r}"
        raise EvidenceGapError(msg)
    ours = [event for event in events[first:last] if _by(event, user)]
    records = [_record(stages) for stages in _requests(ours)]
    return tuple(sorted(records, key=lambda record: (record.received_at, record.audit_id)))


def in_flight(events: Iterable[Mapping[str, Any]], user: str) -> frozenset[str]:
    """Return the audit ids of the requests of `user` that have begun and not ended. Pure.

    Of reads only a watch is ever among them: its record begins when the stream does.
    """
    requests = _requests(event for event in events if _by(event, user))
    return frozenset(
        stages[-1]["auditID"] for stages in requests if stages[-1]["stage"] not in _ENDS
    )


def _requests(events: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Return the stages of each request, in order of their first.

    An audit id alone does not tell requests apart: whoever sends the header `Audit-ID` chooses it.
    """
    requests: list[list[Mapping[str, Any]]] = []
    open_ones: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for event in events:
        received_at = str(event["requestReceivedTimestamp"])
        key = (event["auditID"], received_at, event["verb"], event["requestURI"])
        if key not in open_ones:
            open_ones[key] = []
            requests.append(open_ones[key])
        open_ones[key].append(event)
        if event["stage"] in _ENDS:
            del open_ones[key]
    return requests


def _by(event: Mapping[str, Any], user: str) -> bool:
    return event.get("user", {}).get("username") == user and "impersonatedUser" not in event


def _position(events: Sequence[Mapping[str, Any]], text: str, user: str) -> int:
    # Whoever knows the text can send it; what the agent sends marks nothing.
    found = [
        index
        for index, event in enumerate(events)
        if event["stage"] == "ResponseComplete"
        and event.get("user", {}).get("username") != user
        and text in _query(event["requestURI"]).get(_MARK, ())
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
        dry_run=_is_dry_run(last["verb"], last["requestURI"], body),
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


def _query(uri: str) -> dict[str, list[str]]:
    # Not urlsplit: it refuses `//[`, which anybody may ask for and which the log then holds.
    return parse_qs(uri.partition("?")[2])


def _is_dry_run(verb: str, uri: str, body: Any) -> bool:
    """Tell as the API server does: where a delete has a body, only that counts; kubectl sends one.

    Of any other request the body is the object, and what it says of dry runs means nothing.
    """
    if verb in _DELETES and isinstance(body, dict):
        return "All" in (body.get("dryRun") or ())
    return "All" in _query(uri).get("dryRun", ())
