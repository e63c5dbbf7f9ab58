"""The real controller on a virtual clock: its cache fed at once, its link a call.

What it decides and does is `harness.lab.loop`, loop and all; where that would wait, its turn ends.
Here are only the ways to stop it at a named point for ever, and how it goes on when it is woken.
"""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Protocol, cast

from harness.core.waiting import Clock
from harness.kube.client import KubeClient
from harness.lab.cache import Cache
from harness.lab.link import InstrumentLink, Sent
from harness.lab.loop import Controller
from harness.lab.pausing import PausePoint
from harness.lab.reconcile import Action, Observed, Send
from tests.virtual.asking import RESOURCES, account
from tests.virtual.client import VirtualClient
from tests.virtual.server import Server
from tests.virtual.store import Obj

#: Passes at one moment after which something runs in circles.
_PASSES_LIMIT = 500


class Line(Protocol):
    """What the controller can say to the instruments."""

    def send(self, call: Send) -> Sent:
        """Hand over a call."""
        ...

    def fence(self, instrument: str, token: int) -> str:
        """Shut out whoever has this token or an older one; return what failed, or nothing."""
        ...


class _PausedError(BaseException):
    """It stops for ever here; goes through everything, as a kill does."""


class _Turn:
    """What the loop asks whether to end, and waits on: here a wait ends the turn instead.

    Attributes:
        again_at: Until when it would have waited.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._over = True
        self.again_at: datetime | None = None

    def begin(self) -> None:
        """Let the loop go round."""
        self._over, self.again_at = False, None

    def is_set(self) -> bool:
        """Tell whether the turn is over."""
        return self._over

    def wait(self, timeout_s: float) -> bool:
        """End the turn, and remember until when it would have waited."""
        self._over, self.again_at = True, self._clock.now() + timedelta(seconds=timeout_s)
        return False


class _News(Cache):
    """The cache, fed at once; waiting for news ends the turn."""

    def __init__(self, turn: _Turn) -> None:
        super().__init__()
        self._turn = turn
        self.at_rest = -1

    def wait(self, version: int, timeout_s: float | None) -> None:
        """End the turn, unless there are news already."""
        if self.version == version:
            self.at_rest = version
            self._turn.wait(timeout_s or 0.0)


class _Link:
    """The controller's end of the line to the instruments."""

    def __init__(self, rack: Line) -> None:
        self.send, self.fence = rack.send, rack.fence


class VirtualController(Controller):
    """One process's worth of controller; killing it is forgetting it."""

    def __init__(
        self,
        server: Server,
        line: Line,
        clock: Clock,
        *,
        pause_at: str | None = None,
        pause_task: str | None = None,
    ) -> None:
        """Start it: everything is listed and answers are heard.

        Args:
            server: What it watches and writes.
            line: To the instruments.
            clock: Source of time.
            pause_at: Where it stops, once.
            pause_task: LabTask whose call that is about; None for any.
        """
        self.paused_at: str | None = None
        self.wake_at: datetime | None = None
        self._pause_at, self._pause_task = pause_at, pause_task
        self._doing: Action | None = None
        self._unsaid: Mapping[str, Any] | None = None
        self._turn = _Turn(clock)
        self._missed: list[tuple[str, str, Obj]] = []
        self._passes = 0
        self._news = _News(self._turn)
        super().__init__(
            namespace=server.store.namespace,
            client=cast(
                "KubeClient", VirtualClient(server, account(server.store.namespace, "controller"))
            ),
            cache=self._news,
            link=cast("InstrumentLink", _Link(line)),
            stop=cast("threading.Event", self._turn),
            pause=self._stop_here,
            clock=clock,
        )
        for plural in RESOURCES:
            for obj in server.store.all(plural):
                self._take(plural, "ADDED", obj)
        self.forget = server.store.listen(self.told)
        self.set_listening(value=True)

    def take_over_from(self, other: VirtualController) -> None:
        """Know what another one knows beside the objects, as if it were that one."""
        for name, value in vars(other).items():
            if isinstance(value, dict | set | deque):
                setattr(self, name, copy.copy(value))
        self.wake_at = other.wake_at
        self._news.at_rest = self._news.version

    def told(self, plural: str, change: str, obj: Obj) -> None:
        """Take a change of the store, or keep it for later while it is stopped."""
        if self.paused_at is not None:
            self._missed.append((plural, change, obj))
        else:
            self._take(plural, change, obj)

    def due(self, now: datetime) -> bool:
        """Tell whether there is something to look at."""
        if self.paused_at is not None:
            return False
        news = self._news.version != self._news.at_rest
        return news or (self.wake_at is not None and self.wake_at <= now)

    def turn(self) -> None:
        """Go round the loop until it would wait for something."""
        self._passes = 0
        self._turn.begin()
        try:
            self.loop()
        except _PausedError:
            return
        self._news.at_rest = self._news.version
        self.wake_at = self._turn.again_at

    def wake(self) -> None:
        """Go on from where it stopped: with what it was about to do, and then with the news."""
        point, self.paused_at, self._pause_at = self.paused_at, None, None
        self._turn.begin()
        if point in (PausePoint.BEFORE_SEND, PausePoint.BEFORE_RECORD) and self._doing:
            self._do_each([self._doing])
        if point == PausePoint.AFTER_ANSWER and self._unsaid:
            self._heard.appendleft(self._unsaid)
        missed, self._missed = self._missed, []
        for plural, change, obj in missed:
            self._take(plural, change, obj)
        self._news.bump()

    def _observe(self) -> Observed:
        self._passes += 1
        assert self._passes < _PASSES_LIMIT, "the controller does not come to rest"
        return super()._observe()

    def _take_answers(self) -> None:
        self._unsaid = self._heard[0] if self._heard else None
        super()._take_answers()

    def _do(self, action: Action) -> None:
        self._doing = action
        super()._do(action)

    def _take(self, plural: str, change: str, obj: Obj) -> None:
        kind = obj["kind"]
        if plural in _LAB:
            self._news.apply(kind, change, obj)

    def _stop_here(self, point: PausePoint, facts: Mapping[str, Any]) -> None:
        if point != self._pause_at:
            return
        if self._pause_task is not None and self._task_of(facts) != self._pause_task:
            return
        self._pause_at = None
        self.paused_at = str(point)
        raise _PausedError

    def _task_of(self, facts: Mapping[str, Any]) -> str | None:
        if "task" in facts:
            return str(facts["task"])
        for task in self._observe().tasks:
            if any(call.request_id == facts["requestId"] for call in task.status.dispatches):
                return task.name
        return None


_LAB = frozenset(
    resource.plural for resource in RESOURCES.values() if resource.group == "lab.strandline.dev"
)
