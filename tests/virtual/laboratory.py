"""A laboratory on a virtual clock: server, instruments, controllers, and how time passes for them.

Nothing waits: time jumps to the next thing that is due, and everybody whose turn it is acts before
it goes on. Satisfies `harness.bench.story.stage.Stage`, so history and cast run on it unchanged.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from harness.core.naming import service_account_user
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.reply import answer_of
from harness.lab.instruments.slot import Call, Entry, InstrumentSetup
from harness.lab.link import Sent
from harness.lab.reconcile import Send
from harness.model.lab import Instrument
from tests.virtual.asking import HARNESS, account
from tests.virtual.client import VirtualClient
from tests.virtual.clock import VirtualClock
from tests.virtual.controller import VirtualController
from tests.virtual.instruments import VirtualInstruments
from tests.virtual.server import Server
from tests.virtual.store import Store

#: Turns at one moment after which something runs in circles.
_TURNS_LIMIT = 1000


class _Lost:
    """How many writes were lost."""

    def __init__(self, server: Server) -> None:
        self._server, self._before = server, server.lost

    def refused(self) -> int:
        """Return how many were answered with a 500 so far."""
        return self._server.lost - self._before


class Laboratory:
    """One attempt's laboratory: everything but the agent."""

    def __init__(
        self, namespace: str, *, pause_at: str | None = None, pause_task: str | None = None
    ) -> None:
        """Make an empty one, with the agent's RoleBinding and without instruments."""
        self.clock = VirtualClock(self.advance, self.go_on)
        self.store = Store(namespace)
        self.server = Server(self.store, self.clock)
        self.rack = Rack([])
        self.entries: list[Entry] = []
        self.instruments = VirtualInstruments(self)
        self._pause = (pause_at, pause_task)
        self._controllers: list[VirtualController] = []
        #: Called whenever everybody is at rest; returns whether it did something.
        self.after_each: Callable[[], bool] = lambda: False
        self._calling = False

    def copied(self) -> Laboratory:
        """Return one in the same state, that goes its own way from here."""
        other = Laboratory(self.namespace)
        other.clock.at = self.clock.at
        other.store = self.store.copied()
        other.server = Server(other.store, other.clock)
        other.rack = pickle.loads(pickle.dumps(self.rack))  # noqa: S301 - made just here
        other.entries = list(self.entries)
        for one in self._controllers:
            assert one.paused_at is None, "who stopped half-way cannot be copied"
            other._start()
            other._controllers[-1].take_over_from(one)
        return other

    @property
    def namespace(self) -> str:
        """Where its objects are."""
        return self.store.namespace

    @property
    def agent_user(self) -> str:
        """The user name of the agent's identity."""
        return service_account_user(self.namespace, "agent")

    @property
    def client(self) -> VirtualClient:
        """The harness's own client."""
        return VirtualClient(self.server, HARNESS)

    def client_as(self, role: str) -> VirtualClient:
        """Return a client that is somebody of the laboratory."""
        return VirtualClient(self.server, account(self.namespace, role))

    @property
    def laboratory(self) -> Laboratory:
        """What the interruptions need of the controller; it is all one here."""
        return self

    def open(self) -> None:
        """Start instruments as the objects say, and a controller."""
        self.rack = Rack([_setup(obj) for obj in self.store.all("instruments")])
        pause_at, pause_task = self._pause
        self._start(pause_at=pause_at, pause_task=pause_task)
        self.settle()

    @property
    def paused_at(self) -> str | None:
        """The point at which a controller stopped itself."""
        return next((one.paused_at for one in self._controllers if one.paused_at), None)

    def replace_controller(self) -> None:
        """Kill every controller, and have a successor."""
        for one in self._controllers:
            one.forget()
        self._controllers.clear()
        self._start()
        self.settle()

    def start_second_controller(self) -> None:
        """Start another one beside the one that stopped itself."""
        self._start()
        self.settle()

    def wake_first_controller(self) -> None:
        """Let the one that stopped itself go on from where it is."""
        self._controllers[0].wake()
        self.settle()

    def end_first_controller(self) -> None:
        """End the older of the two."""
        self._controllers.pop(0).forget()
        self.settle()

    @contextmanager
    def lost_status_writes(self) -> Iterator[_Lost]:
        """Lose every write of a task's status for as long as it is open."""
        self.server.loses_task_status = True
        try:
            yield _Lost(self.server)
        finally:
            self.server.loses_task_status = False

    def note(self, entries: Sequence[Entry]) -> None:
        """Put entries into the journal, and tell answers to who listens."""
        for entry in entries:
            self.entries.append(entry)
            if (answer := answer_of(entry)) is not None:
                for one in self._controllers:
                    one.hear(answer)

    def send(self, call: Send) -> Sent:
        """Hand a call of a controller's to an instrument."""
        handed = Call(
            request_id=call.request_id,
            capability=call.capability,
            inputs=call.inputs,
            fencing_token=call.fencing_token,
        )
        reply = self.rack.submit(call.instrument, handed, self.clock.at)
        self.note(reply.entries)
        if reply.dropped:
            return Sent(lost="the link failed: RemoteProtocolError")
        if reply.code >= 400:
            return Sent(refused=f"{reply.message} (HTTP {reply.code})")
        return Sent()

    def fence(self, instrument: str, token: int) -> str:
        """Shut out whoever has this token or an older one."""
        reply = self.rack.fence(instrument, token, self.clock.at)
        self.note(reply.entries)
        return "" if reply.code in (200, 404) else reply.message

    def settle(self) -> None:
        """Let everybody act whose turn it is at this moment."""
        for _ in range(_TURNS_LIMIT):
            self.note(self.rack.advance(self.clock.at))
            due = [one for one in self._controllers if one.due(self.clock.at)]
            for one in due:
                one.turn()
            if not due and not self._call_after():
                return
        msg = "the laboratory does not come to rest"
        raise AssertionError(msg)

    def next_at(self) -> datetime | None:
        """Return when something becomes due by time alone; None for never."""
        wakes = [one.wake_at for one in self._controllers if one.paused_at is None]
        times = [time for time in (self.rack.next_at, *wakes) if time is not None]
        return min((time for time in times if time > self.clock.at), default=None)

    def advance(self, seconds: float) -> None:
        """Let time pass: whatever falls due does so in its turn."""
        end = self.clock.at + timedelta(seconds=seconds)
        self.settle()
        while self.clock.at < end:
            self.step(end)

    def step(self, limit: datetime) -> None:
        """Go on to the next thing that is due, at most to a time."""
        due = self.next_at()
        self.clock.at = limit if due is None else min(due, limit)
        self.settle()

    def go_on(self) -> bool:
        """Go on to the next news; tell whether there are any within a second."""
        before = (self.store.version, len(self.entries))
        self.settle()
        if (self.store.version, len(self.entries)) != before:
            return True  # at this very moment
        due = self.next_at()
        if due is None or due - self.clock.at > timedelta(seconds=1):
            return False
        self.step(due)
        return True

    def _call_after(self) -> bool:
        if self._calling:  # what it does lets time pass, and that must not call it again
            return False
        self._calling = True
        try:
            return self.after_each()
        finally:
            self._calling = False

    def _start(self, *, pause_at: str | None = None, pause_task: str | None = None) -> None:
        controller = VirtualController(
            self.server, self, self.clock, pause_at=pause_at, pause_task=pause_task
        )
        self._controllers.append(controller)


def _setup(obj: Mapping[str, Any]) -> InstrumentSetup:
    instrument = Instrument.of(obj)
    simulation = instrument.spec.simulation
    return InstrumentSetup(
        name=instrument.name,
        type=instrument.spec.type,
        latency_s=simulation.latency_seconds,
        refuses=simulation.refuses,
        reservoir_g=simulation.reservoir_grams,
        noise_g=simulation.noise_grams,
    )
