"""Lines that hold on to each other, so that none can be dropped, doubled, moved or forged alone.

It owns the links: each line says its number and the digest of the line before; the first holds the
digest of the text with which the record begins. It refuses to know what a line is about. bench
writes such lines, grading verifies them; a MANIFEST made anew says nothing of either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from harness.core.files import canonical_json, sha256_hex
from harness.model.frozen import Frozen

#: Keys of the link in a line; the rest is the value.
_SEQ, _PREVIOUS = "seq", "previous"

#: Characters of a digest in a message; enough to tell two apart.
_SHOWN_CHARS = 12


class Chain(Frozen):
    """What the lines must come to, kept apart from them.

    Attributes:
        start: Text that the first line is tied to.
        count: Number of lines.
        head: SHA-256 of the last line; of the start where there is none.
    """

    start: str
    count: Annotated[int, Field(ge=0, strict=True)]
    head: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLink:
    """Where a chain does not hold.

    Attributes:
        line: Number of the line, from 1.
        what: What was found there, and what was expected.
    """

    line: int
    what: str


def chained(values: Iterable[Mapping[str, Any]], *, start: str) -> tuple[bytes, Chain]:
    """Return one line a value, each with its link, and what they come to. Pure."""
    lines: list[bytes] = []
    previous = sha256_hex(start.encode())
    for seq, value in enumerate(values, start=1):
        line = canonical_json({**value, _SEQ: seq, _PREVIOUS: previous})
        lines.append(line + b"\n")
        previous = sha256_hex(line)
    return b"".join(lines), Chain(start=start, count=len(lines), head=previous)


def without_link(value: Any) -> Any:
    """Return the value of a line as it was before it was chained. Pure."""
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key not in {_SEQ, _PREVIOUS}}


def broken_link(lines: Sequence[bytes], values: Sequence[Any], chain: Chain) -> BrokenLink | None:
    """Return the first link that does not hold; None when the lines are what was written. Pure.

    Args:
        lines: The lines as they stand, without their ends.
        values: The JSON value of each.
        chain: What they must come to.
    """
    expected = sha256_hex(chain.start.encode())
    for number, (line, value) in enumerate(zip(lines, values, strict=True), start=1):
        seq, previous = _link(value)
        if seq != number:
            return BrokenLink(line=number, what=f"is record {seq} of the chain, expected {number}")
        if previous != expected:
            return _unlinked(number, previous, expected)
        expected = sha256_hex(line)
    if len(lines) != chain.count:
        what = f"is the last of {len(lines)} records, expected {chain.count}"
        return BrokenLink(line=len(lines), what=what)
    if expected != chain.head:
        what = f"found sha256 {_short(expected)}, the chain ends in {_short(chain.head)}"
        return BrokenLink(line=len(lines), what=what)
    return None


def _link(value: Any) -> tuple[Any, Any]:
    if not isinstance(value, dict):
        return None, None
    seq = value.get(_SEQ)
    # True is 1 in Python, and would pass for the first.
    return (seq if type(seq) is int else None), value.get(_PREVIOUS)


def _unlinked(number: int, previous: Any, found: str) -> BrokenLink:
    if number == 1:
        what = f"follows {_short(previous)}, expected the start marker's {_short(found)}"
        return BrokenLink(line=1, what=what)
    what = f"found sha256 {_short(found)}, line {number} follows {_short(previous)}"
    return BrokenLink(line=number - 1, what=what)


def _short(digest: Any) -> str:
    return str(digest)[:_SHOWN_CHARS]
