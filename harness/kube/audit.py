"""The API server's audit log as evidence: markers, the agent's slice, and what is still in flight.

Attribution is by `user.username` without impersonation, and one token; never by field managers,
Events, or what else a caller may choose. The marks travel in a URL, because a request that RBAC
refuses keeps neither name nor body. What an API server that was killed, or a log that was cut or
rotated, leaves behind is a gap, and a gap has no grade.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from harness.errors import EvidenceGapError
from harness.kube.audit_lines import event_of
from harness.kube.audit_records import query_of, record_of
from harness.kube.audit_requests import (
    ENDS,
    is_by,
    refuse_gaps,
    refuse_second_token,
    refuse_time_going_back,
    requests_in,
)
from harness.kube.client import KubeClient
from harness.kube.resources import LAB_RUNS
from harness.model.evidence import AuditRecord

#: Query parameter of a marker; the API server ignores and records what it does not know.
_MARK = "strandlineMark"


class AuditLog:
    """A log file that one API server appends to, one JSON event a line, each before its answer."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def end(self) -> int:
        """Return the offset in bytes behind the last event."""
        return self._path.stat().st_size

    def read(self, since: int, *, user: str | None = None) -> list[dict[str, Any]]:
        """Return the events from an offset on; a line still being written is left out.

        Args:
            since: Offset in bytes, as `end` returned it.
            user: Only lines that name this user anywhere, and markers: what everybody else does is
                most of a log, and need not be parsed.

        Raises:
            EvidenceGapError: The file is not the one of that offset: cut, or another in its place.
        """
        return self.follow(since, user=user)[0]

    def follow(self, since: int, *, user: str | None = None) -> tuple[list[dict[str, Any]], int]:
        """Return what `read` returns, and the offset behind the last whole line, to go on from.

        Raises:
            EvidenceGapError: The file is not the one of that offset.
        """
        wanted = (user.encode(), _MARK.encode()) if user else ()
        events, end = [], since
        with self._path.open("rb") as file:
            self._seek(file, since)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                end += len(line)
                if line != b"\n" and (not wanted or any(text in line for text in wanted)):
                    events.append(event_of(line))
        return events, end

    def _seek(self, file: BinaryIO, since: int) -> None:
        if since == 0:
            return
        file.seek(since - 1)
        if file.read(1) != b"\n":
            msg = f"{self._path}: no line ends at byte {since} any more; it was cut, or rotated"
            raise EvidenceGapError(msg, hint="leave the audit log alone while attempts run")


def marked(text: str) -> dict[str, str]:
    """Return the query of a request that carries a marker. Pure."""
    return {"limit": "1", _MARK: text}


def mark(client: KubeClient, namespace: str, text: str) -> None:
    """Send one harmless read whose URL carries `text`, so that the log has it in order."""
    client.call("GET", LAB_RUNS.path(namespace), query=marked(text))


def credential_of_token(token: str) -> str:
    """Return how the log names the token of a ServiceAccount: by its JTI. Pure.

    Raises:
        EvidenceGapError: It is no such token; nothing of it is in the message.
    """
    try:
        _, claims, _ = token.split(".")
        padding = "=" * (-len(claims) % 4)
        return f"JTI={json.loads(base64.urlsafe_b64decode(claims + padding))['jti']}"
    except (ValueError, KeyError, TypeError, binascii.Error):
        msg = "the agent's token has no id, so its requests cannot be told from another token's"
        raise EvidenceGapError(msg) from None


def slice_of(
    events: Sequence[Mapping[str, Any]],
    *,
    user: str,
    start: str,
    end: str,
    credential: str | None = None,
) -> tuple[AuditRecord, ...]:
    """Return the requests of `user` between two markers, in order of arrival. Pure.

    A request of the user's that carries the end marker is the harness's own, made with the user's
    token to see it refused, and is left out.

    Args:
        events: Those of a log, in its order.
        user: User name.
        start: Text of the marker before.
        end: Text of the marker behind.
        credential: As the log names the token; None for one that is not known.

    Raises:
        EvidenceGapError: A marker is missing, stands twice, or they are out of order; a request is
            not whole; time goes back; or another token of the user's was used.
    """
    first, last = _position(events, start, user), _position(events, end, user)
    if first >= last:
        msg = f"audit log: marker {end!r} comes before {start!r}"
        raise EvidenceGapError(msg)
    between = events[first : last + 1]
    refuse_time_going_back(between)
    requests = requests_in(
        event for event in between if is_by(event, user) and not _carries(event, end)
    )
    refuse_gaps(requests)
    refuse_second_token(requests, credential)
    return _records(requests)


def requests_of(events: Iterable[Mapping[str, Any]], user: str) -> tuple[AuditRecord, ...]:
    """Return every request of `user`, ended or not, in order of arrival. Pure."""
    return _records(requests_in(event for event in events if is_by(event, user)))


def in_flight(events: Iterable[Mapping[str, Any]], user: str) -> frozenset[str]:
    """Return the audit ids of the requests of `user` that have begun and not ended. Pure.

    Of reads only a watch is ever among them: its record begins when the stream does.
    """
    requests = requests_in(event for event in events if is_by(event, user))
    return frozenset(
        stages[-1]["auditID"] for stages in requests if stages[-1]["stage"] not in ENDS
    )


def _records(requests: Iterable[Sequence[Mapping[str, Any]]]) -> tuple[AuditRecord, ...]:
    records = [record_of(stages) for stages in requests]
    return tuple(sorted(records, key=lambda record: (record.received_at, record.audit_id)))


def _carries(event: Mapping[str, Any], text: str) -> bool:
    uri = event["requestURI"]
    return _MARK in uri and text in query_of(uri).get(_MARK, ())


def _position(events: Sequence[Mapping[str, Any]], text: str, user: str) -> int:
    # Whoever knows the text can send it; what the agent sends marks nothing.
    found = [
        index
        for index, event in enumerate(events)
        if event["stage"] == "ResponseComplete"
        and event.get("user", {}).get("username") != user
        and _carries(event, text)
    ]
    if len(found) != 1:
        msg = f"audit log: marker {text!r} found {len(found)} times, expected once"
        raise EvidenceGapError(msg)
    return found[0]
