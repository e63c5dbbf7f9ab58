"""The instruments as one machine with a clock passed in: queues, fencing, one act per request id.

Each instrument carries out one call at a time, in order; a call once accepted meets its fate
whatever becomes of who asked. No thread, no socket, no file: the server drives it with real time,
a test or a simulation with any other. Every entry it returns belongs in the journal, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from harness.lab.instruments.fate import Fate, noise
from harness.lab.instruments.slot import Call, Entry, InstrumentSetup, Slot
from harness.lab.instruments.world import Effect, Vessel, World, knows, perform

#: Looks at the instrument itself and not at the bench.
_READ_LOG, _READ_GAUGE = "sim.read_log", "sim.read_gauge"

#: Outputs that are read with an error, each a mass.
_READ_MASSES = ("mass_g", "level_g")

#: Decimal places of a reading that has an error.
_PLACES = 3


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


class Rack:
    """Every instrument of a laboratory, and the world that they share."""

    def __init__(
        self,
        setups: Sequence[InstrumentSetup],
        *,
        vessels: Mapping[str, Vessel] = MappingProxyType({}),
        noise_key: str = "",
    ) -> None:
        """Set up.

        Args:
            setups: The instruments.
            vessels: What stands on the bench already.
            noise_key: What the errors of readings hang on; the harness alone knows it.
        """
        self._slots = {setup.name: Slot(setup=setup) for setup in setups}
        self._world = World(vessels=dict(vessels))
        self._noise_key = noise_key
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
            entry = self._entry("duplicate", slot, call, now)
            return Reply(code=200, message="seen before, not acted on again", entries=(entry,))
        if call.fencing_token <= slot.token:
            message = f"fencing token {call.fencing_token} is stale, above {slot.token} expected"
            entry = self._entry("stale", slot, call, now, error=message)
            return Reply(code=409, message=message, entries=(entry,))
        if slot.setup.refuses or not _can(call.capability):
            code = 503 if slot.setup.refuses else 422
            message = (
                f"instrument {name!r} refuses every call"
                if slot.setup.refuses
                else f"instrument {name!r} knows no call {call.capability!r}"
            )
            entry = self._entry("refused", slot, call, now, error=message)
            return Reply(code=code, message=message, entries=(entry,))
        self._seen.add(call.request_id)
        slot.accept(call)
        entries = [self._entry("accepted", slot, call, now)]
        if len(slot.queue) == 1:
            entries += self._start(slot, now)
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
            call = slot.queue[0]
            entries += self._meet(slot, call, slot.fate_of(call), ended_at)
            slot.queue.popleft()
            slot.rest()
            if slot.queue:
                entries += self._start(slot, ended_at)

    def replay(self, entries: Iterable[Entry], now: datetime) -> tuple[Entry, ...]:
        """Become what a journal says; return a `stopped` entry for each call it left unfinished."""
        open_calls: dict[str, tuple[Slot, Call]] = {}
        for entry in entries:
            self._seq = max(self._seq, int(entry["seq"]))
            slot, call = self._slots.get(str(entry["instrument"])), _call_of(entry)
            if slot is None:
                continue
            slot.note(entry)
            match entry["event"]:
                case "accepted":
                    self._seen.add(call.request_id)
                    slot.token = max(slot.token, call.fencing_token)
                    slot.decide(call)
                    open_calls[call.request_id] = (slot, call)
                case "finished" | "stopped":
                    open_calls.pop(call.request_id, None)
                    self._do(slot, call, float(entry.get("share", entry["event"] == "finished")))
                case "restarted":
                    slot.forget(datetime.fromisoformat(entry["at"]))
                case _:
                    pass
        return tuple(self._stopped(slot, call, now) for slot, call in open_calls.values())

    def restart(self, name: str, now: datetime) -> tuple[Entry, ...]:
        """Start an instrument that has no memory anew: its log is gone, what it did is not."""
        slot = self._slots[name]
        given_up = self._give_up(slot, now)
        call = Call(request_id="", capability="", inputs={}, fencing_token=slot.token)
        restarted = self._entry("restarted", slot, call, now)
        slot.forget(now)
        return (*given_up, restarted)

    def stop(self, now: datetime) -> tuple[Entry, ...]:
        """Give up every call that has not ended, as when the power goes."""
        return tuple(entry for slot in self._slots.values() for entry in self._give_up(slot, now))

    def _give_up(self, slot: Slot, now: datetime) -> list[Entry]:
        entries = [self._stopped(slot, call, now) for call in slot.queue]
        slot.queue.clear()
        slot.rest()
        return entries

    def _meet(self, slot: Slot, call: Call, fate: Fate, at: datetime) -> list[Entry]:
        """Carry a call out as far as its fate lets it."""
        held = {"silent": True} if fate.silent else {}
        if not fate.shares:
            return [self._stopped(slot, call, at, **held)]
        began_at = slot.began_at or at
        turn = (at - began_at) / len(fate.shares)
        entries: list[Entry] = []
        for number, share in enumerate(fate.shares):
            if number:
                entries.append(self._entry("started", slot, call, began_at + number * turn))
            effect, ended_at = self._do(slot, call, share), began_at + (number + 1) * turn
            if share < 1.0:
                entries.append(self._stopped(slot, call, ended_at, share=share, **held))
                continue
            outcome = {"error": effect.error} if effect.error else {"outputs": dict(effect.outputs)}
            entries.append(self._entry("finished", slot, call, ended_at, **outcome, **held))
        return entries

    def _do(self, slot: Slot, call: Call, share: float) -> Effect:
        """Change the world as far as a call got, and return what there is to say of it."""
        if not share:
            return Effect(world=self._world)
        if call.capability == _READ_LOG:
            return Effect(world=self._world, outputs=slot.own_log())
        if call.capability == _READ_GAUGE:
            level_g = slot.setup.reservoir_g - self._world.drawn_g.get(slot.setup.name, 0.0)
            effect = Effect(world=self._world, outputs={"level_g": level_g})
        else:
            effect = perform(
                self._world, call.capability, call.inputs, instrument=slot.setup.name, share=share
            )
        self._world = effect.world
        return replace(effect, outputs=self._read(slot, call, effect.outputs))

    def _read(self, slot: Slot, call: Call, outputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what an instrument shows of what is so: masses with an error."""
        sigma = slot.setup.noise_g
        if not sigma:
            return outputs
        error = noise(self._noise_key, call.request_id, sigma=sigma)
        return {
            name: round(value + error, _PLACES) if name in _READ_MASSES else value
            for name, value in outputs.items()
        }

    def _start(self, slot: Slot, now: datetime) -> list[Entry]:
        slot.begin(now)
        call = slot.queue[0]
        return [self._entry("started", slot, call, now)] if slot.fate_of(call).shares else []

    def _stopped(self, slot: Slot, call: Call, at: datetime, **more: Any) -> Entry:
        message = "the instrument lost power before the call ended"
        return self._entry("stopped", slot, call, at, error=message, **more)

    def _entry(self, event: str, slot: Slot, call: Call, at: datetime, **more: Any) -> Entry:
        self._seq += 1
        entry = {
            "seq": self._seq,
            "at": at.isoformat(),
            "event": event,
            "requestId": call.request_id,
            "instrument": slot.setup.name,
            "capability": call.capability,
            "inputs": dict(call.inputs),
            "fencingToken": call.fencing_token,
            **more,
        }
        slot.note(entry)
        return entry


def _can(capability: str) -> bool:
    return knows(capability) or capability in (_READ_LOG, _READ_GAUGE)


def _call_of(entry: Entry) -> Call:
    return Call(
        request_id=str(entry["requestId"]),
        capability=str(entry["capability"]),
        inputs=entry["inputs"],
        fencing_token=int(entry["fencingToken"]),
    )
