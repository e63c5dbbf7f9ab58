"""The harness's own line to the instruments, as a call: `harness.bench.story.stage.Instruments`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from harness.core.waiting import Clock
from harness.lab.instruments.fate import Fate
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.reply import Reply
from harness.lab.instruments.slot import Entry
from harness.lab.instruments.world import world_of


class Bench(Protocol):
    """Where the instruments stand."""

    @property
    def rack(self) -> Rack:
        """The instruments themselves."""
        ...

    @property
    def entries(self) -> list[Entry]:
        """The journal, in order."""
        ...

    @property
    def clock(self) -> Clock:
        """Source of time."""
        ...

    def note(self, entries: Sequence[Entry]) -> None:
        """Put entries into the journal, and tell answers to who listens."""
        ...

    def settle(self) -> None:
        """Let everybody act whose turn it is at this moment."""
        ...


class VirtualInstruments:
    """The harness's own line to the rack."""

    def __init__(self, laboratory: Bench) -> None:
        self._lab = laboratory

    def tell_fates(self, noise_key: str, fates: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Say what becomes of each instrument's acting calls."""
        told = {name: [Fate.of(one) for one in found] for name, found in fates.items()}
        self._done(self._lab.rack.tell(noise_key, told, self._lab.clock.now()))

    def restart(self, name: str, *, memory: bool) -> None:
        """Start one anew."""
        self._done(self._lab.rack.restart(name, self._lab.clock.now(), memory=memory))

    def drop_link(self, name: str) -> None:
        """Have its next call accepted and not answered."""
        self._done(self._lab.rack.drop_link(name, self._lab.clock.now()))

    def hold(self, name: str) -> None:
        """Keep the call in hand from ending."""
        self._done(self._lab.rack.hold(name, self._lab.clock.now()))

    def let_go(self, name: str) -> None:
        """Let it end at once."""
        self._done(self._lab.rack.let_go(name, self._lab.clock.now()))

    def release(self, request_id: str) -> None:
        """Give an answer that was held back to who listens now."""
        self._done(self._lab.rack.release(request_id, self._lab.clock.now()))

    def journal(self) -> list[Entry]:
        """Return every entry of the journal, in order."""
        return self._lab.entries

    def world(self) -> dict[str, Any]:
        """Return what stands on the bench."""
        return world_of(self._lab.rack.world)

    def idle(self) -> bool:
        """Return whether no instrument is at work."""
        return self._lab.rack.idle

    def _done(self, reply: Reply) -> None:
        assert reply.code < 400, reply.message
        self._lab.note(reply.entries)
        self._lab.settle()
