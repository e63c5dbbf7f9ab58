"""What the instruments are, as their journal says: each entry changes it in one way, live or read.

Decides nothing and knows no clock: `rack` decides what happens, writes it down as an entry, and has
it take effect here. So a journal that is read again leads to the very same instruments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from harness.lab.instruments.asked import Effect
from harness.lab.instruments.calls import knows, perform
from harness.lab.instruments.fate import Fate, noise
from harness.lab.instruments.slot import Call, Entry, InstrumentSetup, Slot
from harness.lab.instruments.world import Vessel, World

#: Looks at the instrument itself and not at the bench.
_READ_LOG, _READ_GAUGE = "sim.read_log", "sim.read_gauge"

#: Outputs that are read with an error, each a mass.
_READ_MASSES = ("mass_g", "level_g")

#: Decimal places of a reading that has an error.
_PLACES = 3


class State:
    """Slots, the world that they share, and what is held back.

    Attributes:
        slots: Instrument to what it is.
        world: What the calls so far made of it.
        told: Whether fates were told.
        seen: Request ids that were accepted.
        withheld: Request id to the entry whose answer is held back.
        seq: Number of the last entry.
    """

    def __init__(self, setups: Sequence[InstrumentSetup], *, vessels: Mapping[str, Vessel]) -> None:
        self.slots = {setup.name: Slot(setup=setup) for setup in setups}
        self.world = World(vessels=dict(vessels))
        self.told = False
        self.seen: set[str] = set()
        self.withheld: dict[str, Entry] = {}
        self.seq = 0
        self._noise_key = ""

    def read(self, entries: Iterable[Entry]) -> None:
        """Become what a journal says; a call that it left unfinished is in its queue."""
        for entry in entries:
            self.seq = max(self.seq, int(entry["seq"]))
            if not entry["instrument"] or entry["instrument"] in self.slots:
                self.take_effect(entry)

    def take_effect(self, entry: Entry) -> None:
        """Become what an entry says. The one place where anything changes but the time of ends."""
        self.seq = max(self.seq, int(entry["seq"]))
        if entry["event"] == "fated":
            self._fated(entry)
            return
        slot = self.slots[entry["instrument"]]
        slot.note(entry)
        match entry["event"]:
            case "accepted":
                call = call_of(entry)
                self.seen.add(call.request_id)
                slot.accept(call)
            case "finished" | "stopped":
                self._ended(slot, entry)
            case "released":
                self.withheld.pop(str(entry["requestId"]), None)
            case "fenced":
                slot.token = max(slot.token, int(entry["fencingToken"]))
            case "held" | "let_go":
                slot.held = entry["event"] == "held"
            case "drops_link" | "link_dropped":
                slot.drops_link = entry["event"] == "drops_link"
            case "restarted":
                self._restarted(slot, entry)
            case _:
                pass  # "started", "duplicate", "stale" and "refused" change nothing

    def effect_of(self, slot: Slot, call: Call, share: float) -> Effect:
        """Return what a call makes of the world when it gets so far, and what it shows. Pure."""
        if call.capability == _READ_LOG:
            return Effect(world=self.world, outputs=slot.own_log())
        if call.capability == _READ_GAUGE:
            level_g = slot.setup.reservoir_g - self.world.drawn_g.get(slot.setup.name, 0.0)
            effect = Effect(world=self.world, outputs={"level_g": level_g})
        else:
            name = slot.setup.name
            effect = perform(self.world, call.capability, call.inputs, instrument=name, share=share)
        return replace(effect, outputs=self._shown(slot, call, effect.outputs))

    def _shown(self, slot: Slot, call: Call, outputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what an instrument shows of what is so: masses with an error."""
        sigma = slot.setup.noise_g
        if not sigma:
            return outputs
        error = noise(self._noise_key, call.request_id, sigma=sigma)
        return {
            name: round(value + error, _PLACES) if name in _READ_MASSES else value
            for name, value in outputs.items()
        }

    def _fated(self, entry: Entry) -> None:
        self.told, self._noise_key = True, str(entry["noiseKey"])
        for name, fates in entry["fates"].items():
            if name in self.slots:
                self.slots[name].told = tuple(Fate.of(fate) for fate in fates)

    def _ended(self, slot: Slot, entry: Entry) -> None:
        """Change the world as far as the call got; it leaves the queue, unless it is begun anew."""
        call = call_of(entry)
        if entry["event"] == "finished" or "share" in entry:
            share = float(entry.get("share", 1.0))
            self.world = self.effect_of(slot, call, share).world
        if entry.get("silent"):
            self.withheld[call.request_id] = entry
        slot.drop(call)

    def _restarted(self, slot: Slot, entry: Entry) -> None:
        memory = bool(entry["memory"])
        slot.boot(datetime.fromisoformat(entry["at"]), memory=memory)
        if not memory:
            name = slot.setup.name
            kept = {key: one for key, one in self.withheld.items() if one["instrument"] != name}
            self.withheld = kept


def can(capability: str) -> bool:
    """Tell whether there is such a call. Pure."""
    return knows(capability) or capability in (_READ_LOG, _READ_GAUGE)


def call_of(entry: Entry) -> Call:
    """Return the call that an entry is about. Pure."""
    return Call(
        request_id=str(entry["requestId"]),
        capability=str(entry["capability"]),
        inputs=entry["inputs"],
        fencing_token=int(entry["fencingToken"]),
    )
