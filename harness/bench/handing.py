"""Hand attempts out to workers side by side, until all are done, or somebody interrupts.

Owns who does what next, what an interrupt means to those at work, and what a worker that dies takes
along: one attempt. Refuses to know how a worker is started or what an attempt is. `jobs` calls it.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

#: Seconds between two looks at whether those at work still live, and whether an interrupt came. An
#: attempt takes 5 s and more.
_LOOK_S = 0.1


class Worker(Protocol):
    """Somebody who carries out one attempt at a time."""

    def give(self, number: int) -> None:
        """Hand an attempt over; it is reported to the inbox when done."""
        ...

    def interrupt(self) -> None:
        """Tell it to stop and to sweep."""
        ...

    @property
    def running(self) -> bool:
        """Whether it lives."""
        ...

    def end(self) -> str:
        """End it, with all that it started; return how it ended. Idempotent.

        What it reported before stands in the inbox then.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What stands in the inbox: an attempt is done, or its worker is gone.

    Attributes:
        worker: Who reports.
        number: The attempt that is done; None when the worker is gone.
        interrupted: Whether it ended by an interrupt.
        why: How the worker ended, when it is gone.
    """

    worker: Worker
    number: int | None
    interrupted: bool = False
    why: str = ""


Inbox = queue.SimpleQueue[Report]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who is told.

    Attributes:
        done: An attempt is on record; told its number and whether it was interrupted.
        lost: A worker died over an attempt; told its number and how.
        heard: Asked whether an interrupt came.
    """

    done: Callable[[int, bool], None]
    lost: Callable[[int, str], None]
    heard: Callable[[], bool]


@dataclass(slots=True, kw_only=True)
class _Shop:
    """Who is at work on what, and who waits."""

    waiting: deque[int]
    busy: dict[Worker, int] = field(default_factory=dict)
    idle: list[Worker] = field(default_factory=list)
    gone: set[Worker] = field(default_factory=set)

    def all(self) -> list[Worker]:
        return [*self.busy, *self.idle]


def hand_out(
    total: int, *, count: int, start: Callable[[], Worker], inbox: Inbox, listener: Listener
) -> None:
    """Have attempts 0 to `total` - 1 carried out, at most `count` at once.

    At the first interrupt nothing more is begun, those at work are told once, and their sweep is
    waited for. At the end, whatever happens, no worker is left.

    Args:
        total: Number of attempts.
        count: Workers at once.
        start: Starts one; called on this thread.
        inbox: Where workers report.
        listener: Who is told.

    Raises:
        KeyboardInterrupt: A second interrupt came; those at work were told again.
    """
    shop = _Shop(waiting=deque(range(total)))
    told = False
    try:
        while True:
            if listener.heard():
                if not told:
                    _interrupt(shop)
                told = True
                shop.waiting.clear()
            _employ(shop, count, start)
            if not shop.busy:
                return
            _hear(shop, inbox, listener)
    except KeyboardInterrupt:
        _interrupt(shop)
        raise
    finally:
        for worker in shop.all():
            worker.end()


def _employ(shop: _Shop, count: int, start: Callable[[], Worker]) -> None:
    while shop.waiting and len(shop.busy) < count:
        if shop.idle and not shop.idle[-1].running:  # it went while it had nothing to do
            shop.idle.pop().end()
            continue
        worker = shop.idle.pop() if shop.idle else start()
        number = shop.waiting.popleft()
        shop.busy[worker] = number
        worker.give(number)


def _interrupt(shop: _Shop) -> None:
    for worker in shop.busy:
        worker.interrupt()


def _hear(shop: _Shop, inbox: Inbox, listener: Listener) -> None:
    """Take one report; without one, look who is gone."""
    try:
        report = inbox.get(timeout=_LOOK_S)
    except queue.Empty:
        for worker in [one for one in shop.busy if not one.running and one not in shop.gone]:
            shop.gone.add(worker)
            inbox.put(Report(worker=worker, number=None, why=worker.end()))
        return
    number = shop.busy.pop(report.worker, None)
    if number is None:  # it was done before it went
        return
    if report.number is None:
        listener.lost(number, report.why)
        return
    shop.idle.append(report.worker)
    listener.done(number, report.interrupted)
