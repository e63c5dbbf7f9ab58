"""Attempts are handed out side by side, and nobody is left at work, whatever happens."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence

import pytest

from harness.bench.handing import Inbox, Listener, Worker, hand_out
from tests.unit.bench.fake_worker import FakeWorker


class _Run:
    """One hand-out with fake workers, and what the listener was told."""

    def __init__(
        self, *plans: Sequence[str], heard: Callable[[_Run], bool] = lambda _: False
    ) -> None:
        """Give each worker, in the order of their start, what becomes of its attempts."""
        self.inbox: Inbox = queue.SimpleQueue()
        self.workers: list[FakeWorker] = []
        self.done: list[tuple[int, bool]] = []
        self.lost: list[tuple[int, str]] = []
        self._plans, self._heard = list(plans), heard

    def _start(self) -> Worker:
        worker = FakeWorker(self.inbox, self._plans[len(self.workers)])
        self.workers.append(worker)
        return worker

    def hand_out(self, total: int, *, count: int) -> None:
        hand_out(
            total,
            count=count,
            start=self._start,
            inbox=self.inbox,
            listener=Listener(
                done=lambda number, interrupted: self.done.append((number, interrupted)),
                lost=lambda number, why: self.lost.append((number, why)),
                heard=lambda: self._heard(self),
            ),
        )


def test_every_attempt_is_carried_out_once_by_as_many_as_were_asked_for() -> None:
    run = _Run(["done"] * 5, ["done"] * 5)

    run.hand_out(5, count=2)

    assert sorted(run.done) == [(number, False) for number in range(5)]
    assert sorted(number for worker in run.workers for number in worker.given) == [0, 1, 2, 3, 4]
    assert [worker.ended for worker in run.workers] == [True, True]


def test_a_worker_that_dies_takes_one_attempt_along_and_another_one_goes_on() -> None:
    run = _Run(["dies"], ["done", "done"])

    run.hand_out(3, count=1)

    assert run.lost == [(0, "was ended by signal 9")]
    assert run.done == [(1, False), (2, False)]
    assert [worker.ended for worker in run.workers] == [True, True]


def test_an_attempt_that_was_done_before_its_worker_went_is_not_lost() -> None:
    run = _Run(["done and gone"], ["done"])

    run.hand_out(2, count=1)

    assert run.lost == []
    assert run.done == [(0, False), (1, False)]


def test_an_interrupt_reaches_those_at_work_once_and_nothing_more_is_begun() -> None:
    run = _Run(["until interrupted"], ["until interrupted"], heard=lambda run: bool(run.workers))

    run.hand_out(9, count=2)

    assert sorted(run.done) == [(0, True), (1, True)]
    assert [worker.interrupts for worker in run.workers] == [1, 1]
    assert [worker.ended for worker in run.workers] == [True, True]


def test_a_second_interrupt_goes_through_and_ends_everybody() -> None:
    def heard(run: _Run) -> bool:
        if run.workers and run.workers[0].interrupts:
            raise KeyboardInterrupt
        return bool(run.workers)

    run = _Run(["never"], ["never"], heard=heard)

    with pytest.raises(KeyboardInterrupt):
        run.hand_out(3, count=2)

    assert [worker.interrupts for worker in run.workers] == [2, 2]
    assert [worker.ended for worker in run.workers] == [True, True]
    assert run.done == []


def test_nobody_is_started_for_nothing() -> None:
    run = _Run()

    run.hand_out(0, count=2)

    assert run.workers == []


def test_a_listener_that_fails_leaves_nobody_at_work() -> None:
    inbox: Inbox = queue.SimpleQueue()
    worker = FakeWorker(inbox, ["done", "never"])

    def fail(_number: int, _interrupted: bool) -> None:  # noqa: FBT001 - a callback's signature
        raise OSError(28, "no space left")

    with pytest.raises(OSError, match="no space left"):
        hand_out(
            2,
            count=1,
            start=lambda: worker,
            inbox=inbox,
            listener=Listener(done=fail, lost=lambda *_: None, heard=lambda: False),
        )

    assert worker.ended
