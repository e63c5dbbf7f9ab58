"""The instruments as one machine with a clock passed in: queues, fencing, one act per request id.

Each instrument carries out one call at a time, in order; a call once accepted runs to its end
whatever becomes of who asked. No thread, no socket, no file: the server drives it with real time,
a test or a simulation with any other. Every entry it returns belongs in the journal, in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from harness.lab.instruments.world import World, knows, perform

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentSetup:
    """What an instrument is told about itself.

    Attributes:
        name: Name of the Instrument object.
        type: Its type.
        latency_s: Seconds that each call takes.
        refuses: Whether it refuses every call.
    """

    name: str
    type: str
    latency_s: float = 0.0
    refuses: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to one instrument."""

    request_id: str
    capability: str
    inputs: Mapping[str, Any]
    fencing_token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What an instrument says at once.

    Attributes:
        code: 202 accepted, 200 seen before, 404 no such instrument, 409 stale token, 422 no such
            call, 503 refuses.
        message: One line.
        entries: What belongs in the journal.
    """

    code: int
    message: str
    entries: tuple[Entry, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Slot:
    setup: InstrumentSetup
    token: int = 0
    queue: deque[Call] = field(default_factory=deque)
    ends_at: datetime | None = None


class Rack:
    """Every instrument of a laboratory, and the world that they share."""

    def __init__(self, setups: Sequence[InstrumentSetup]) -> None:
        self._slots = {setup.name: _Slot(setup=setup) for setup in setups}
        self._world = World()
        self._seen: set[str] = set()
        self._seq = 0

    @property
    def world(self) -> World:
        """What the calls so far made of the world."""
        return self._world

    @property
    def idle(self) -> bool:
        """Whether no instrument is at work or has work left."""
        return not any(slot.queue for slot in self._slots.values())

    @property
    def next_at(self) -> datetime | None:
        """When the next call ends; None when idle."""
        ends = [slot.ends_at for slot in self._slots.values() if slot.ends_at is not None]
        return min(ends, default=None)

    def submit(self, name: str, call: Call, now: datetime) -> Reply:
        """Accept a call, or say why not."""
        slot = self._slots.get(name)
        if slot is None:
            return Reply(code=404, message=f"no instrument {name!r}")
        if call.request_id in self._seen:
            entry = self._entry("duplicate", name, call, now)
            return Reply(code=200, message="seen before, not acted on again", entries=(entry,))
        if call.fencing_token <= slot.token:
            message = f"fencing token {call.fencing_token} is stale, above {slot.token} expected"
            entry = self._entry("stale", name, call, now, error=message)
            return Reply(code=409, message=message, entries=(entry,))
        if slot.setup.refuses or not knows(call.capability):
            code = 503 if slot.setup.refuses else 422
            message = (
                f"instrument {name!r} refuses every call"
                if slot.setup.refuses
                else f"instrument {name!r} knows no call {call.capability!r}"
            )
            entry = self._entry("refused", name, call, now, error=message)
            return Reply(code=code, message=message, entries=(entry,))
        self._seen.add(call.request_id)
        slot.token = call.fencing_token
        slot.queue.append(call)
        entries = [self._entry("accepted", name, call, now)]
        if len(slot.queue) == 1:
            entries.append(self._start(slot, now))
        return Reply(code=202, message="accepted", entries=tuple(entries))

    def advance(self, now: datetime) -> tuple[Entry, ...]:
        """Carry out every call that has ended by `now`, in order of its end."""
        entries: list[Entry] = []
        while True:
            due = [
                (slot.ends_at, slot.setup.name)
                for slot in self._slots.values()
                if slot.ends_at is not None and slot.ends_at <= now
            ]
            if not due:
                return tuple(entries)
            ended_at, name = min(due)
            slot = self._slots[name]
            call = slot.queue.popleft()
            effect = perform(self._world, call.capability, call.inputs)
            self._world = effect.world
            outcome = {"error": effect.error} if effect.error else {"outputs": dict(effect.outputs)}
            entries.append(self._entry("finished", name, call, ended_at, **outcome))
            slot.ends_at = None
            if slot.queue:
                entries.append(self._start(slot, ended_at))

    def replay(self, entries: Iterable[Entry], now: datetime) -> tuple[Entry, ...]:
        """Become what a journal says; return a `stopped` entry for each call it left unfinished."""
        open_calls: dict[str, tuple[str, Call]] = {}
        for entry in entries:
            self._seq = max(self._seq, int(entry["seq"]))
            name, call = str(entry["instrument"]), _call_of(entry)
            match entry["event"]:
                case "accepted":
                    self._seen.add(call.request_id)
                    open_calls[call.request_id] = (name, call)
                    if name in self._slots:
                        slot = self._slots[name]
                        slot.token = max(slot.token, call.fencing_token)
                case "finished":
                    open_calls.pop(call.request_id, None)
                    self._world = perform(self._world, call.capability, call.inputs).world
                case "stopped":
                    open_calls.pop(call.request_id, None)
                case _:
                    pass
        return tuple(self._stopped(name, call, now) for name, call in open_calls.values())

    def stop(self, now: datetime) -> tuple[Entry, ...]:
        """Give up every call that has not ended, as when the power goes."""
        entries = []
        for name, slot in self._slots.items():
            entries += [self._stopped(name, call, now) for call in slot.queue]
            slot.queue.clear()
            slot.ends_at = None
        return tuple(entries)

    def _stopped(self, name: str, call: Call, at: datetime) -> Entry:
        message = "the instrument lost power before the call ended"
        return self._entry("stopped", name, call, at, error=message)

    def _start(self, slot: _Slot, now: datetime) -> Entry:
        slot.ends_at = now + timedelta(seconds=slot.setup.latency_s)
        return self._entry("started", slot.setup.name, slot.queue[0], now)

    def _entry(self, event: str, name: str, call: Call, at: datetime, **more: Any) -> Entry:
        self._seq += 1
        return {
            "seq": self._seq,
            "at": at.isoformat(),
            "event": event,
            "requestId": call.request_id,
            "instrument": name,
            "capability": call.capability,
            "inputs": dict(call.inputs),
            "fencingToken": call.fencing_token,
            **more,
        }


def _call_of(entry: Entry) -> Call:
    return Call(
        request_id=str(entry["requestId"]),
        capability=str(entry["capability"]),
        inputs=entry["inputs"],
        fencing_token=int(entry["fencingToken"]),
    )
