"""What Terraform complained about: its JSON stream and its prose, read tolerantly.

Pure. A stream may hold a wrapper's banner, a lock message or log lines; they are passed over. Texts
that the caller names as secret are cut out before anything is shown. `outcomes` builds on it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

#: Characters kept of one diagnostic; foreign text is capped.
_TEXT_CHARS = 500

#: Shortest text cut out of longer words as a secret; a shorter one would blank out half of all
#: words, so it is cut out only where it stands alone.
_SECRET_CHARS = 3

#: Characters that no JSON of an engine's holds as they are.
_MARKUP = re.compile(r"[<>&]")

#: How every event of both engines begins.
_EVENT = '{"@level"'

#: Frames and colour codes of the human-readable form, which init and show print.
_DECORATION = re.compile(r"\x1b\[[0-9;]*m|^[╷│╵] ?", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One error or warning of Terraform's.

    Attributes:
        severity: `error` or `warning`.
        summary: One line.
        detail: The explanation; may be empty.
        address: The resource it is about.
        path: File, relative to the root module.
        line: Line in that file, from 1.
        expression: The first reference shown beside the snippet, for example `var.mass_g`.
    """

    severity: str
    summary: str
    detail: str
    address: str | None = None
    path: str | None = None
    line: int | None = None
    expression: str | None = None

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.path else ""
        where = " ".join(part for part in (place, self.address) if part)
        text = ": ".join(part for part in (self.summary, " ".join(self.detail.split())) if part)
        return (f"{where}: {text}" if where else text)[:_TEXT_CHARS]


def parse_events(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON events of a stream, passing over lines that are none. Pure.

    A wrapper's banner, a lock message and log lines all land in the same stream.
    """
    for line in text.splitlines():
        event = parse_event(line)
        if event is not None:
            yield event


def parse_event(line: str) -> dict[str, Any] | None:
    """Return the event of a line, or None when there is none. Pure.

    What a wrapper prints without a newline stands before the event, or behind it.
    """
    start = 0 if line.startswith("{") else line.find(_EVENT)
    if start < 0:
        return None
    try:
        event, _ = json.JSONDecoder().raw_decode(line, start)
    except ValueError:  # not JSON, or a number of more digits than Python converts
        return None
    return event if isinstance(event, dict) and "type" in event else None


def read_diagnostics(events: Iterable[Mapping[str, Any]], stderr: str) -> tuple[Diagnostic, ...]:
    """Return what Terraform complained about, errors first. Pure.

    Args:
        events: The parsed stream.
        stderr: Read as well: what fails before the stream opens is printed there in prose.
    """
    found = [_diagnostic(event["diagnostic"]) for event in events if event["type"] == "diagnostic"]
    found += _prose_diagnostics(stderr)
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda diagnostic: diagnostic.severity != "error"))


def _diagnostic(wire: Mapping[str, Any]) -> Diagnostic:
    place = wire.get("range") or {}
    shown = (wire.get("snippet") or {}).get("values") or [{}]
    return Diagnostic(
        severity=wire.get("severity", "error"),
        summary=wire.get("summary", ""),
        detail=wire.get("detail", ""),
        address=wire.get("address"),
        path=place.get("filename"),
        line=place.get("start", {}).get("line"),
        expression=shown[0].get("traversal"),
    )


def _prose_diagnostics(stderr: str) -> list[Diagnostic]:
    text = _DECORATION.sub("", stderr)
    return [
        Diagnostic(
            severity="error",
            summary=block.partition("\n")[0].strip(),
            # Not cut here: half of a secret would not be found.
            detail=block.partition("\n")[2].strip(),
        )
        for block in re.split(r"^Error: ", text, flags=re.MULTILINE)[1:]
    ]


def redacted(diagnostic: Diagnostic, secrets: frozenset[str]) -> Diagnostic:
    """Return the diagnostic without any of `secrets` in its texts. Pure."""
    return replace(
        diagnostic,
        summary=redact(diagnostic.summary, secrets),
        detail=redact(diagnostic.detail, secrets),
    )


def redact(text: str, secrets: frozenset[str]) -> str:
    """Return `text` with every secret replaced, the longest first. Pure."""
    forms = map(_pattern, sorted(secrets, key=lambda secret: (-len(secret), secret)))
    return re.sub("|".join(forms), "(sensitive)", text) if secrets else text


def _pattern(secret: str) -> str:
    """Return what finds a secret, wherever an engine broke its lines."""
    words = r"\s+".join(re.escape(word) for word in secret.split())
    return words if len(secret) >= _SECRET_CHARS else rf"(?<!\w){words}(?!\w)"


def secret_texts(values: Iterable[Any]) -> frozenset[str]:
    """Return every text under which a secret value could show up in a message. Pure.

    That is each scalar in it as it is, line by line, quoted for JSON and for native text, and in
    base64. Keys of maps are no secrets: an object's are its attributes, which the source names.
    """
    texts: set[str] = set()
    for value in values:
        for scalar in _scalars(value):
            known = {scalar, base64.b64encode(scalar.encode()).decode(), *scalar.splitlines()}
            quoted = {
                json.dumps(text, ensure_ascii=ascii_only)[1:-1]
                for text in known
                for ascii_only in (True, False)
            }
            templates = {text.replace("${", "$${").replace("%{", "%%{") for text in quoted}
            # Both engines' jsonencode() writes these three as an HTML page would need them.
            marked = {_MARKUP.sub(lambda m: f"\\u{ord(m[0]):04x}", text) for text in quoted}
            long = known | quoted | templates | marked
            texts |= {text for text in long if len(text.strip()) >= _SECRET_CHARS}
            if re.search(r"\w", scalar):
                texts.add(scalar.strip())
    return frozenset(texts)


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _scalars(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _scalars(part)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
        yield f"{Decimal(repr(value)):f}"
