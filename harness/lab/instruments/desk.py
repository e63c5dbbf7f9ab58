"""The rack in real time: its journal, and who listens to its answers, on one event loop.

An answer goes to whoever listens when it comes, and is not kept for later. Refuses to know HTTP;
the server calls it from one event loop, so there is no lock.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Iterable
from datetime import datetime
from typing import Any

from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.lab.instruments.journal import Journal
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.reply import Reply, answer_of
from harness.lab.instruments.slot import Entry


class Desk:
    """The rack, its journal and its listeners."""

    def __init__(self, rack: Rack, journal: Journal, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self.rack = rack
        self.journal = journal
        self._clock = clock
        self._listeners: set[asyncio.Queue[dict[str, Any]]] = set()
        self._changed = asyncio.Event()
        journal.record(rack.replay(journal.entries, clock.now()))

    def do(self, act: Callable[[Rack, datetime], Reply]) -> Reply:
        """Do something to the rack now: it is on record, and told, before who asked hears of it."""
        reply = act(self.rack, self._clock.now())
        self._tell(reply.entries)
        self._changed.set()
        return reply

    async def run(self) -> None:
        """End calls when their time has come, and tell whoever listens. Never returns."""
        while True:
            self._tell(self.rack.advance(self._clock.now()))
            self._changed.clear()
            next_at = self.rack.next_at
            left_s = (next_at - self._clock.now()).total_seconds() if next_at else None
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(
                    self._changed.wait(), None if left_s is None else max(0.0, left_s)
                )

    async def answers(self) -> AsyncGenerator[bytes, None]:
        """Yield a first line that says the subscription holds, then each answer from now on."""
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield b'{"subscribed":true}\n'
            while True:
                yield json.dumps(await queue.get()).encode() + b"\n"
        finally:
            self._listeners.discard(queue)

    def stop(self) -> None:
        """Give up what has not ended, and put that on record."""
        self.journal.record(self.rack.stop(self._clock.now()))

    def _tell(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.journal.record((entry,))
            answer = answer_of(entry)
            if answer is not None:
                for listener in self._listeners:
                    listener.put_nowait(answer)
