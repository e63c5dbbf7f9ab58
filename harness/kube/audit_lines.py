"""One line of an API server's audit log as an event, whatever a caller sent in a body. Pure.

It owns the reading of bytes that a hostile caller had a hand in; it refuses to know what an event
means. `audit` calls it.
"""

from __future__ import annotations

import json
from typing import Any

#: Levels of nesting that a body may have; beyond, it is kept as text. A CRD has under 30, and the
#: JSON of pydantic ends at 255.
_DEPTH_LIMIT = 100

#: Characters of one text in a body that are kept. No field of the laboratory takes more than 4,096,
#: so what was stored is whole; a refused body may hold 3 MiB, and ten thousand may be sent.
TEXT_CHARS = 4_096

#: Bytes of a line below which no text in it can be too long.
_SHORT_LINE_BYTES = TEXT_CHARS


def event_of(line: bytes) -> dict[str, Any]:
    """Return the event of a line, with a body that we cannot read kept as text. Pure.

    A patch is logged as it was sent: the API server takes nesting, numbers and bytes that are no
    JSON of ours, and a caller must not become invisible, or spoil the record, by sending them.
    """
    try:
        event: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError):
        return _with_text_body(line)
    if _nests_deeper(event, _DEPTH_LIMIT):
        return _with_text_body(line)
    if len(line) > _SHORT_LINE_BYTES and "requestObject" in event:
        event["requestObject"] = _shortened(event["requestObject"])
    return event


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
        if not level:
            return False
    return True


def _shortened(value: Any) -> Any:
    """Return a body with every text cut; what it names and asks for is short, and stays."""
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, dict):
        return {_cut(key): _shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    return value


def _cut(text: str) -> str:
    if len(text) <= TEXT_CHARS:
        return text
    return f"{text[:TEXT_CHARS]}... ({len(text)} characters)"
