"""The cast of a live attempt: a thread that looks, acts and is ended, and the requests it sees.

A cast that dies is an infrastructure error of the attempt, told when it is ended; it is ended
within a bound, whatever it waits for. Called by an attempt.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime

from harness.bench.story.cast import Cast
from harness.bench.story.stage import Stage, Watched
from harness.bench.story.work import Witness
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import ClusterError, HarnessError
from harness.kube.audit import AuditLog, requests_of
from harness.kube.client import CALL_TIMEOUT_S
from harness.model.evidence import AuditRecord
from harness.model.story import Part

#: Seconds between two looks at least. An agent that polls sees what others do a look later.
_INTERVAL_S = 0.05

#: Looks take at most one part in so many of the thread's time, however long their lists have grown.
_PAUSE_PER_LOOK = 4.0

#: Seconds until the thread must have ended: one call to the API server, and a margin.
_END_TIMEOUT_S = CALL_TIMEOUT_S + 5.0


class _Ended(Exception):  # noqa: N818 - no error: how a wait of the thread learns that it is over
    """The cast was ended while it waited."""


class _EndingClock:
    """A clock whose sleepers are woken when all is over."""

    def __init__(self, clock: Clock, over: threading.Event) -> None:
        self._clock, self._over = clock, over

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic_s(self) -> float:
        return self._clock.monotonic_s()

    def sleep(self, seconds: float) -> None:
        if self._over.wait(seconds):
            raise _Ended


class AgentRequests:
    """The agent's requests as the audit log has them, from an offset on."""

    def __init__(self, audit: AuditLog | None, *, user: str, since: int) -> None:
        self._audit, self._user, self._since = audit, user, since

    def requests(self) -> Sequence[AuditRecord] | None:
        """Return what has begun or ended since the last call; None where nobody records."""
        if self._audit is None:
            return None
        events, self._since = self._audit.follow(self._since, user=self._user)
        return requests_of(events, self._user)


class LiveCast:
    """A cast and the thread that plays it. Close it, whatever happens."""

    def __init__(
        self,
        parts: Sequence[Part],
        stage: Stage,
        *,
        truth: str | None,
        watched: Watched,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """Take its places; it begins with `start`."""
        self._over = threading.Event()
        self._clock = _EndingClock(clock, self._over)
        self._cast = Cast(parts, stage, truth=truth, watched=watched, clock=self._clock)
        self._error: HarnessError | None = None
        self._done = False
        self._thread = threading.Thread(target=self._play, name="cast", daemon=True)

    @property
    def witnesses(self) -> list[Witness]:
        """What was done so far, in order."""
        return list(self._cast.witnesses)

    @property
    def alive(self) -> bool:
        """Whether the thread is at work."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin to look; where nobody has a part, nothing begins."""
        if not self._cast.over:
            self._thread.start()

    def end(self) -> None:
        """End it. Idempotent.

        Raises:
            ClusterError: It died on its own, or goes on beyond its bound.
        """
        self.close()
        if self._thread.ident is None:
            return
        if self._thread.is_alive():
            msg = f"the cast did not end within {_END_TIMEOUT_S:g} s"
            raise ClusterError(msg, hint="look whether the API server answers")
        if not self._done:
            self._done = True
            why = self._error.message if self._error else "see the traceback"
            msg = f"the cast ended by itself: {why}"
            raise ClusterError(msg, hint="look at the task's cast") from self._error

    def close(self) -> None:
        """End it, whatever became of it. Idempotent."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join(_END_TIMEOUT_S)

    def _play(self) -> None:
        try:
            while not self._cast.over:
                began_s = self._clock.monotonic_s()
                self._cast.step()
                took_s = self._clock.monotonic_s() - began_s
                self._clock.sleep(max(_INTERVAL_S, _PAUSE_PER_LOOK * took_s))
        except _Ended:
            pass
        except HarnessError as error:
            self._error = error
            return
        self._done = True  # not in a `finally`: a bug of ours must not pass for an end
