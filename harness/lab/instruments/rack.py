"""The instruments as one machine with a clock passed in: queues, fencing, one act per request id.

Each instrument carries out one call at a time, in order; a call once accepted meets its fate
whatever becomes of who asked. No thread, no socket, no file: the server drives it with real time,
a test or a simulation with any other. Every entry it returns belongs in the journal, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from harness.lab.instruments.fate import Fate
from harness.lab.instruments.reply import Reply
from harness.lab.instruments.slot import Call, Entry, InstrumentSetup, Slot
from harness.lab.instruments.state import State, call_of, can
from harness.lab.instruments.world import Vessel, World

#: What is on record where nobody called.
_NO_CALL = Call(request_id="", capability="", inputs=MappingProxyType({}), fencing_token=0)


class Rack:
    """Every instrument of a laboratory, and the world that they share."""

    def __init__(
        self,
        setups: Sequence[InstrumentSetup],
        *,
        vessels: Mapping[str, Vessel] = MappingProxyType({}),
    ) -> None:
        """Set up.

        Args:
            setups: The instruments.
            vessels: What stands on the bench already.
        """
        self._state = State(setups, vessels=vessels)

    @property
    def world(self) -> World:
        """What the calls so far made of the world."""
        return self._state.world

    @property
    def idle(self) -> bool:
        """Whether no instrument is at work or has work left."""
        return not any(slot.queue for slot in self._state.slots.values())

    @property
    def next_at(self) -> datetime | None:
        """When the next call ends; None when idle, or when all that is in hand is held."""
        slots = self._state.slots.values()
        ends = [slot.ends_at for slot in slots if slot.ends_at is not None]
        return min(ends, default=None)

    def submit(self, name: str, call: Call, now: datetime) -> Reply:
        """Accept a call, or say why not."""
        slot = self._state.slots.get(name)
        if slot is None:
            return _stranger(name)
        if call.request_id in self._state.seen:
            entry = self._record("duplicate", slot, call, now)
            return Reply(code=200, message="seen before, not acted on again", entries=(entry,))
        if call.fencing_token <= slot.token:
            message = f"fencing token {call.fencing_token} is stale, above {slot.token} expected"
            entry = self._record("stale", slot, call, now, error=message)
            return Reply(code=409, message=message, entries=(entry,))
        if slot.setup.refuses or not can(call.capability):
            code = 503 if slot.setup.refuses else 422
            message = (
                f"instrument {name!r} refuses every call"
                if slot.setup.refuses
                else f"instrument {name!r} knows no call {call.capability!r}"
            )
            entry = self._record("refused", slot, call, now, error=message)
            return Reply(code=code, message=message, entries=(entry,))
        dropped = slot.drops_link
        entries = [self._record("accepted", slot, call, now)]
        if dropped:
            entries.append(self._record("link_dropped", slot, call, now))
        if len(slot.queue) == 1:
            entries += self._start(slot, now)
        return Reply(code=202, message="accepted", entries=tuple(entries), dropped=dropped)

    def advance(self, now: datetime) -> tuple[Entry, ...]:
        """Carry out every call that has ended by `now`, in order of its end."""
        entries: list[Entry] = []
        while True:
            due = [
                (slot.ends_at, name)
                for name, slot in self._state.slots.items()
                if slot.ends_at is not None and slot.ends_at <= now
            ]
            if not due:
                return tuple(entries)
            ended_at, name = min(due)
            slot = self._state.slots[name]
            entries += self._meet(slot, slot.queue[0], ended_at)
            if slot.queue:
                entries += self._start(slot, ended_at)

    def replay(self, entries: Iterable[Entry], now: datetime) -> tuple[Entry, ...]:
        """Become what a journal says; return a `stopped` entry for each call it left unfinished."""
        self._state.read(entries)
        return self.stop(now)

    def stop(self, now: datetime) -> tuple[Entry, ...]:
        """Give up every call that has not ended, as when the power goes."""
        slots = self._state.slots.values()
        return tuple(entry for slot in slots for entry in self._give_up(slot, now))

    def tell(self, noise_key: str, fates: Mapping[str, Sequence[Fate]], now: datetime) -> Reply:
        """Take what becomes of each instrument's first acting calls; once, before any call.

        Args:
            noise_key: What the errors of readings hang on; the harness alone knows it.
            fates: Instrument to the fates of its acting calls, in order.
            now: Time.
        """
        if self._state.told or self._state.seen:
            return Reply(code=409, message="fates are told once, and before any call")
        if strangers := sorted(fates.keys() - self._state.slots.keys()):
            return _stranger(strangers[0])
        told = {name: [fate.as_json() for fate in of_one] for name, of_one in fates.items()}
        entry = self._record("fated", None, _NO_CALL, now, noiseKey=noise_key, fates=told)
        return Reply(code=200, message="fated", entries=(entry,))

    def fence(self, name: str, token: int, now: datetime) -> Reply:
        """Take every token up to this one for stale: whoever has one was replaced."""
        return self._done(name, "fenced", now, fencingToken=token)

    def hold(self, name: str, now: datetime) -> Reply:
        """Keep the call in hand, and each after it, from ending."""
        return self._done(name, "held", now)

    def let_go(self, name: str, now: datetime) -> Reply:
        """Let calls end again, a held one at once; `advance` tells of it."""
        slot = self._state.slots.get(name)
        if slot is not None and slot.held:
            slot.end_by(now)
        return self._done(name, "let_go", now)

    def drop_link(self, name: str, now: datetime) -> Reply:
        """Break the link when the next call was accepted, before who asked hears of it."""
        return self._done(name, "drops_link", now)

    def restart(self, name: str, now: datetime, *, memory: bool = False) -> Reply:
        """Start an instrument anew; without memory its log is gone, what it did is not.

        A call in hand of which nobody was to hear meets its fate now; any other is given up.
        """
        slot, entries = self._state.slots.get(name), []
        if slot is not None and slot.queue and slot.fate_of(slot.queue[0]).silent:
            entries += self._meet(slot, slot.queue[0], now)
        if slot is not None:
            entries += self._give_up(slot, now)
        reply = self._done(name, "restarted", now, memory=memory)
        return replace(reply, entries=(*entries, *reply.entries))

    def release(self, request_id: str, now: datetime) -> Reply:
        """Give an answer that was held back to who listens now."""
        entry = self._state.withheld.get(request_id)
        if entry is None:
            return Reply(code=404, message=f"no answer to {request_id!r} is held back")
        said = {key: entry[key] for key in ("outputs", "error") if key in entry}
        slot = self._state.slots[entry["instrument"]]
        released = self._record("released", slot, call_of(entry), now, **said)
        return Reply(code=200, message="released", entries=(released,))

    def _done(self, name: str, event: str, now: datetime, **more: Any) -> Reply:
        """Put on record what the harness or a controller did to an instrument, and say so."""
        slot = self._state.slots.get(name)
        if slot is None:
            return _stranger(name)
        call = replace(_NO_CALL, fencing_token=slot.token)
        entry = self._record(event, slot, call, now, **more)
        return Reply(code=200, message=event.replace("_", " "), entries=(entry,))

    def _start(self, slot: Slot, now: datetime) -> list[Entry]:
        slot.begin(now)
        call = slot.queue[0]
        return [self._record("started", slot, call, now)] if slot.fate_of(call).shares else []

    def _meet(self, slot: Slot, call: Call, at: datetime) -> list[Entry]:
        """Carry a call out as far as its fate lets it."""
        fate = slot.fate_of(call)
        more = {"silent": True} if fate.silent else {}
        if not fate.shares:
            return [self._stopped(slot, call, at, share=0.0, **more)]
        began_at = slot.began_at or at
        turn = (at - began_at) / len(fate.shares)
        entries: list[Entry] = []
        for number, share in enumerate(fate.shares):
            if number:
                entries.append(self._record("started", slot, call, began_at + number * turn))
            ended_at = began_at + (number + 1) * turn
            if share < 1.0:
                entries.append(self._stopped(slot, call, ended_at, share=share, **more))
                continue
            effect = self._state.effect_of(slot, call, share)
            outcome = {"error": effect.error} if effect.error else {"outputs": dict(effect.outputs)}
            entries.append(self._record("finished", slot, call, ended_at, **outcome, **more))
        return entries

    def _give_up(self, slot: Slot, now: datetime) -> list[Entry]:
        return [self._stopped(slot, call, now) for call in tuple(slot.queue)]

    def _stopped(self, slot: Slot, call: Call, at: datetime, **more: Any) -> Entry:
        message = "the instrument lost power before the call ended"
        return self._record("stopped", slot, call, at, error=message, **more)

    def _record(
        self, event: str, slot: Slot | None, call: Call, at: datetime, **more: Any
    ) -> Entry:
        """Make an entry and have it take effect."""
        entry = {
            "seq": self._state.seq + 1,
            "at": at.isoformat(),
            "event": event,
            "requestId": call.request_id,
            "instrument": slot.setup.name if slot else "",
            "capability": call.capability,
            "inputs": dict(call.inputs),
            "fencingToken": call.fencing_token,
            **more,
        }
        self._state.take_effect(entry)
        return entry


def _stranger(name: str) -> Reply:
    return Reply(code=404, message=f"no instrument {name!r}")
