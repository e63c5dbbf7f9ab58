"""One instrument: its queue, its token, its own log, and what becomes of the call in hand.

Knows nothing of the world, of other instruments or of the journal. `rack` drives it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from harness.lab.instruments.fate import Fate
from harness.lab.instruments.world import acts

Entry = dict[str, Any]

#: Events that an instrument keeps in its own log; refusals are its partner's to remember.
_LOGGED = frozenset({"accepted", "started", "finished", "stopped"})


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentSetup:
    """What an instrument is told about itself.

    Attributes:
        name: Name of the Instrument object.
        type: Its type.
        latency_s: Seconds that each call takes.
        refuses: Whether it refuses every call.
        reservoir_g: What its reservoir held at the beginning; what it dispenses comes from there.
        noise_g: Standard deviation of each mass that it reads.
        fates: What becomes of its first acting calls, in order; the others are carried out whole.
    """

    name: str
    type: str
    latency_s: float = 0.0
    refuses: bool = False
    reservoir_g: float = 0.0
    noise_g: float = 0.0
    fates: tuple[Fate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to one instrument."""

    request_id: str
    capability: str
    inputs: Mapping[str, Any]
    fencing_token: int


@dataclass(slots=True, kw_only=True)
class Slot:
    """One instrument at work.

    Attributes:
        token: Highest fencing token that it was given.
        queue: Calls that it accepted, the one in hand first.
        began_at: When the one in hand was begun; None when idle.
        ends_at: When the one in hand ends; None when idle.
        up_since: When it was last started without its memory; None means before its first call.
        log: Its own record, oldest first.
    """

    setup: InstrumentSetup
    token: int = 0
    queue: deque[Call] = field(default_factory=deque)
    began_at: datetime | None = None
    ends_at: datetime | None = None
    up_since: datetime | None = None
    log: list[Entry] = field(default_factory=list)
    fates: dict[str, Fate] = field(default_factory=dict)

    def accept(self, call: Call) -> None:
        """Take a call into the queue, and with it what is to become of it."""
        self.token = max(self.token, call.fencing_token)
        self.decide(call)
        self.queue.append(call)

    def decide(self, call: Call) -> None:
        """Give the next fate to a call, if it acts."""
        if acts(call.capability):
            number, fates = len(self.fates), self.setup.fates
            self.fates[call.request_id] = fates[number] if number < len(fates) else Fate()

    def fate_of(self, call: Call) -> Fate:
        """Return what becomes of a call that was accepted."""
        return self.fates.get(call.request_id, Fate())

    def begin(self, now: datetime) -> None:
        """Begin with the first of the queue. It lasts as long whatever its fate."""
        self.began_at = now
        self.ends_at = now + timedelta(seconds=self.setup.latency_s)

    def rest(self) -> None:
        """Have nothing in hand."""
        self.began_at = self.ends_at = None

    def note(self, entry: Entry) -> None:
        """Keep what happened in the instrument's own log."""
        if entry["event"] in _LOGGED:
            kept = ("requestId", "event", "at", "capability")
            self.log.append({name: entry[name] for name in kept})

    def forget(self, now: datetime) -> None:
        """Lose the log, as an instrument without memory does when it is started."""
        self.log.clear()
        self.up_since = now

    def own_log(self) -> dict[str, Any]:
        """Return what it says of itself: since when it is up, and what it did since."""
        since = self.up_since.isoformat() if self.up_since else ""
        return {"up_since": since, "entries": [dict(entry) for entry in self.log]}
