"""What a check showed, and the words of it: one line, whatever texts an agent wrote.

It owns wording; it refuses to know what is right. The modules of checks call it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.model.evidence import AuditRecord

#: How many names a detail shows; the rest are counted, so that it stays one line.
SHOWN = 3

#: Characters of a name kept in a detail: a refused request may carry any name at all.
_NAME_CHARS = 80

#: Letters of Unicode that show as nothing: the four fillers of Hangul (UCD, Default_Ignorable).
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")


class Finding(NamedTuple):
    """What a check showed: whether it holds, and what was found and needed."""

    passed: bool
    detail: str


def says_something(text: str) -> bool:
    """Tell whether a reader would see a letter or a digit; dots, marks and fillers say nothing."""
    return any(char.isalnum() and char not in _FILLERS for char in text)


def shown(text: str) -> str:
    """Return a foreign text cut to a name's length, with what does not print escaped. Pure."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text[:_NAME_CHARS]
    )


def request(record: AuditRecord) -> str:
    """Return a request of runs as a detail shows it. Pure."""
    return f"{record.verb} {shown(record.name) or 'unnamed'}: {record.code or 'no answer'}"


def targeted(record: AuditRecord) -> str:
    """Return a request with what it was about. Pure."""
    part = f"/{shown(record.subresource)}" if record.subresource else ""
    name = shown(record.name) or "unnamed"
    return f"{record.verb} {shown(record.resource)}{part} {name}: {record.code or 'no answer'}"


def requests(records: Iterable[AuditRecord]) -> str:
    """Return up to three requests in brackets, or nothing. Pure."""
    return listed(targeted(record) for record in records)


def count(number: int, noun: str) -> str:
    """Return `no runs`, `1 run`, `2 runs`. Pure."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def names(found: Iterable[str]) -> str:
    """Return up to three names in brackets, or nothing. Pure."""
    return listed(shown(name) for name in found)


def listed(texts: Iterable[str]) -> str:
    """Return up to three texts in brackets, or nothing. Pure."""
    found = list(texts)
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f" ({', '.join(found[:SHOWN])}{more})" if found else ""
