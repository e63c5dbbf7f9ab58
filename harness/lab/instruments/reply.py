"""What an instrument says: at once to who asked, and later to who listens.

Pure. `rack` makes replies and entries; the server, or whoever drives a rack, passes them on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.lab.instruments.slot import Entry

#: Keys of an entry that an answer has too.
_ANSWERED = ("requestId", "instrument", "at", "outputs", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What an instrument says at once.

    Attributes:
        code: 200 done or seen before, 202 accepted, 404 no such instrument or answer, 409 stale
            token or too late, 422 no such call, 503 refuses.
        message: One line.
        entries: What belongs in the journal.
        dropped: Whether the link breaks before who asked hears any of this.
    """

    code: int
    message: str
    entries: tuple[Entry, ...] = ()
    dropped: bool = False


def answer_of(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what is heard of a journal entry by who listens then; None for nothing. Pure."""
    if entry["event"] != "released" and (entry["event"] != "finished" or entry.get("silent")):
        return None
    outcome = "failed" if "error" in entry else "succeeded"
    return {"outcome": outcome, **{name: entry[name] for name in _ANSWERED if name in entry}}
