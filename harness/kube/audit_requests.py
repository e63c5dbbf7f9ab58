"""Which events of an audit log are stages of one request, and what is missing among them. Pure.

It owns completeness: every request has its end, every write its beginning, time does not go back,
and one user name is one token. It refuses to know what a request asks for. `audit` calls it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from harness.errors import EvidenceGapError
from harness.model.evidence import WRITE_VERBS

Event = Mapping[str, Any]

#: Stages after which nothing more comes for a request.
ENDS = frozenset({"ResponseComplete", "Panic"})

#: How far back in time a later line may lie. The server takes the time first, and writes the line
#: then, so lines of requests that end together swap: by 26 ms at most among 2,000 small ones of 8
#: callers on two busy cores, by 0.7 s among 250 of a mebibyte. It is the server's own limit for a
#: request, so that no agent can make a gap; a clock set back, or a spliced log, is off by more.
_ORDER_TOLERANCE = timedelta(seconds=60)

#: Characters of a request's target in a message: a caller wrote it.
_TARGET_CHARS = 120

#: Where the server says which token, or which certificate, a request came with.
_CREDENTIAL = "authentication.kubernetes.io/credential-id"


def is_by(event: Event, user: str) -> bool:
    """Tell whether a user sent it as themselves. Pure."""
    return event.get("user", {}).get("username") == user and "impersonatedUser" not in event


def requests_in(events: Iterable[Event]) -> list[list[Event]]:
    """Return the stages of each request, in order of their first. Pure.

    An audit id alone does not tell requests apart: whoever sends the header `Audit-ID` chooses it.
    Two that share everything, to the microsecond, are as many as have begun.
    """
    requests: list[list[Event]] = []
    open_ones: dict[tuple[str, ...], deque[list[Event]]] = {}
    for event in events:
        received_at = str(event["requestReceivedTimestamp"])
        key = (str(event["auditID"]), received_at, str(event["verb"]), str(event["requestURI"]))
        waiting = open_ones.setdefault(key, deque())
        begins = event["stage"] == "RequestReceived" or not waiting
        if begins:
            stages: list[Event] = []
            requests.append(stages)
            waiting.append(stages)
        else:
            stages = waiting[0]
        stages.append(event)
        if event["stage"] in ENDS:
            waiting.remove(stages)
        if not waiting:
            del open_ones[key]
    return requests


def credential_of(event: Event) -> str:
    """Return the id of the token that a request came with; empty where none was kept. Pure."""
    kept = event.get("user", {}).get("extra", {}).get(_CREDENTIAL) or ("",)
    return str(kept[0])


def refuse_gaps(requests: Iterable[Sequence[Event]]) -> None:
    """Do nothing when every request is whole. Pure.

    Raises:
        EvidenceGapError: One has no end, or is a write of which nobody saw the beginning.
    """
    for stages in requests:
        first, last = stages[0], stages[-1]
        if last["stage"] not in ENDS:
            msg = f"audit log: {_named(last)} has no end, last seen at stage {last['stage']}"
            raise EvidenceGapError(msg)
        if first["verb"] in WRITE_VERBS and first["stage"] != "RequestReceived":
            msg = f"audit log: {_named(first)} has an end without a beginning"
            raise EvidenceGapError(msg)


def refuse_time_going_back(events: Iterable[Event]) -> None:
    """Do nothing when the log was written in order. Pure.

    Raises:
        EvidenceGapError: A line lies before an earlier one by more than lines can swap, or ends
            before it begins.
    """
    latest: datetime | None = None
    for event in events:
        at = datetime.fromisoformat(event["stageTimestamp"])
        began_at = datetime.fromisoformat(event["requestReceivedTimestamp"])
        before = max(began_at, latest) if latest else began_at
        if before - at > _ORDER_TOLERANCE:
            back_s = (before - at).total_seconds()
            msg = f"audit log: time goes back by {back_s:.3f} s at {_named(event)}"
            raise EvidenceGapError(msg)
        latest = max(at, latest) if latest else at


def refuse_second_token(requests: Sequence[Sequence[Event]], credential: str | None) -> None:
    """Do nothing when one token did all of it. Pure.

    What another one did carries the same user name in every stamp and every object, so it could not
    be told from the attempt's agent any more.

    Args:
        requests: The requests of one user.
        credential: Id of the token that it must be; None for whichever came first.

    Raises:
        EvidenceGapError: Another token of the same user was used.
    """
    for stages in requests:
        found = credential_of(stages[0])
        credential = found if credential is None else credential
        if found != credential:
            user = stages[0]["user"]["username"]
            msg = (
                f"audit log: {_named(stages[0])} came as {user!r} with token {found!r}, "
                f"expected {credential!r} only"
            )
            raise EvidenceGapError(msg, hint="let nobody else act as an attempt's agent")


def _named(event: Event) -> str:
    target = str(event["requestURI"])
    shown = target if len(target) <= _TARGET_CHARS else f"{target[:_TARGET_CHARS]}..."
    return f"request {str(event['auditID'])[:_TARGET_CHARS]!r} ({event['verb']} {shown!r})"
