"""A strict stand-in for a worker: it reports at once, or when it is interrupted, or dies."""

from __future__ import annotations

from collections.abc import Sequence

from harness.bench.handing import Inbox, Report


class FakeWorker:
    """Carries attempts out as it is told, one word for each that it may be given.

    `done`, `done and gone`, `dies`, `until interrupted`, or `never`.
    """

    def __init__(self, inbox: Inbox, plan: Sequence[str]) -> None:
        self.given: list[int] = []
        self.interrupts = 0
        self.ended = False
        self.running = True
        self._inbox, self._plan = inbox, list(plan)

    def give(self, number: int) -> None:
        """Carry it out as planned."""
        assert self.running
        what = self._plan[len(self.given)]
        self.given.append(number)
        if what in ("done", "done and gone"):
            self._inbox.put(Report(worker=self, number=number))
        if what in ("done and gone", "dies"):
            self.running = False
        if what == "until interrupted":
            assert self.interrupts == 0

    def interrupt(self) -> None:
        """Count; an attempt that lasts until then is done."""
        self.interrupts += 1
        if self._plan[len(self.given) - 1] == "until interrupted":
            self._inbox.put(Report(worker=self, number=self.given[-1], interrupted=True))

    def end(self) -> str:
        """Say how it ended."""
        self.ended, self.running = True, False
        return "was ended by signal 9"
