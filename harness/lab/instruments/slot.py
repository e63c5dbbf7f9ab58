"""One instrument: its queue, its token, its own log, and what becomes of the call in hand.

Knows nothing of the world, of other instruments or of the journal. `rack` drives it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from harness.lab.instruments.calls import acts
from harness.lab.instruments.fate import Fate

Entry = dict[str, Any]

#: Events that an instrument keeps in its own log; refusals are its partner's to remember.
_LOGGED = frozenset({"accepted", "started", "finished", "stopped"})


#: Entries that an instrument remembers, the oldest forgotten first: they are read as the outputs of
#: a task, and 200 take 35 kB of an object that may have 1.5 MB (etcd's limit of a request).
LOG_LIMIT = 200


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
    """

    name: str
    type: str
    latency_s: float = 0.0
    refuses: bool = False
    reservoir_g: float = 0.0
    noise_g: float = 0.0


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
        due_at: When the one in hand ends, unless it is held; None when idle.
        held: Whether what it has in hand is kept from ending.
        drops_link: Whether the next call that it accepts is not answered.
        up_since: When it was last started; None means before its first call.
        log: Its own record, oldest first, as much as it remembers.
        told: What becomes of its first acting calls, in order; the others are carried out whole.
        fates: Request id to what becomes of the call, for those that act.
    """

    setup: InstrumentSetup
    token: int = 0
    queue: deque[Call] = field(default_factory=deque)
    began_at: datetime | None = None
    due_at: datetime | None = None
    held: bool = False
    drops_link: bool = False
    up_since: datetime | None = None
    log: deque[Entry] = field(default_factory=lambda: deque(maxlen=LOG_LIMIT))
    told: tuple[Fate, ...] = ()
    fates: dict[str, Fate] = field(default_factory=dict)

    @property
    def ends_at(self) -> datetime | None:
        """When the call in hand ends; None when there is none, or it is held."""
        return None if self.held else self.due_at

    def accept(self, call: Call) -> None:
        """Take a call into the queue, and with it what is to become of it."""
        self.token = max(self.token, call.fencing_token)
        self.decide(call)
        self.queue.append(call)

    def decide(self, call: Call) -> None:
        """Give the next fate to a call, if it acts."""
        if acts(call.capability):
            number = len(self.fates)
            self.fates[call.request_id] = self.told[number] if number < len(self.told) else Fate()

    def fate_of(self, call: Call) -> Fate:
        """Return what becomes of a call that was accepted."""
        return self.fates.get(call.request_id, Fate())

    def begin(self, now: datetime) -> None:
        """Begin with the first of the queue. It lasts as long whatever its fate."""
        self.began_at = now
        self.due_at = now + timedelta(seconds=self.setup.latency_s)

    def end_by(self, now: datetime) -> None:
        """Have the call in hand end now, if there is one."""
        self.due_at = None if self.due_at is None else now

    def drop(self, call: Call) -> None:
        """Be done with a call: for the second time, when it was done a second time."""
        if self.queue and self.queue[0].request_id == call.request_id:
            self.began_at = self.due_at = None
        left = [one for one in self.queue if one.request_id != call.request_id]
        self.queue = deque(left)

    def note(self, entry: Entry) -> None:
        """Keep what happened in the instrument's own log."""
        if entry["event"] in _LOGGED:
            kept = ("requestId", "event", "at", "capability")
            self.log.append({name: entry[name] for name in kept})

    def boot(self, now: datetime, *, memory: bool) -> None:
        """Be on again: with nothing held, and without the log where there is no memory."""
        self.held = False
        self.up_since = now
        if not memory:
            self.log.clear()

    def own_log(self) -> dict[str, Any]:
        """Return what it says of itself: since when it is up, and what it did, if it knows."""
        since = self.up_since.isoformat() if self.up_since else ""
        return {"up_since": since, "entries": [dict(entry) for entry in self.log]}
