"""Waiting, in no time at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC

import pytest

from harness.core.waiting import SYSTEM_CLOCK, wait_until
from harness.errors import ConflictError, NotFoundError, WaitTimeoutError
from tests.unit.core.fakes import FakeClock


def _answers(*values: str | Exception) -> Callable[[], str]:
    """Return a probe that gives these in order; one more than there are fails the test."""
    left: Iterator[str | Exception] = iter(values)

    def probe() -> str:
        value = next(left)
        if isinstance(value, Exception):
            raise value
        return value

    return probe


def _is_yes(seen: str) -> bool:
    return seen == "yes"


def test_what_is_ready_at_once_is_returned_without_a_sleep() -> None:
    clock = FakeClock()

    found = wait_until(_answers("yes"), _is_yes, what="it", timeout_s=5, clock=clock)

    assert found == "yes"
    assert clock.slept_s == []


def test_a_probe_is_repeated_at_the_interval_until_it_is_ready() -> None:
    clock = FakeClock()

    wait_until(
        _answers("no", "no", "yes"), _is_yes, what="it", timeout_s=5, interval_s=0.5, clock=clock
    )

    assert clock.slept_s == [0.5, 0.5]


def test_a_wait_that_never_ends_says_what_it_saw_last() -> None:
    clock = FakeClock()

    with pytest.raises(WaitTimeoutError) as caught:
        wait_until(
            lambda: "503", lambda seen: seen == "200", what="webhook", timeout_s=30, clock=clock
        )

    assert str(caught.value) == "webhook not ready within 30 s, last seen: 503"
    assert caught.value.exit_code == 8
    assert 30 <= clock.monotonic_s() < 30.1


def test_the_probe_runs_once_even_when_there_is_no_time() -> None:
    found = wait_until(_answers("yes"), _is_yes, what="it", timeout_s=0, clock=FakeClock())

    assert found == "yes"


def test_no_time_and_not_ready_is_one_probe_and_the_error() -> None:
    clock = FakeClock()

    with pytest.raises(WaitTimeoutError, match="last seen: no"):
        wait_until(_answers("no"), _is_yes, what="it", timeout_s=0, clock=clock)

    assert clock.slept_s == []


def test_a_streak_begins_again_after_one_answer_that_is_not_ready() -> None:
    probe = _answers("yes", "yes", "no", "yes", "yes", "yes")
    clock = FakeClock()

    found = wait_until(probe, _is_yes, what="it", timeout_s=5, streak=3, clock=clock)

    assert found == "yes"
    assert len(clock.slept_s) == 5


def test_a_streak_begins_again_after_a_tolerated_error() -> None:
    probe = _answers("yes", NotFoundError("gone"), "yes", "yes")
    clock = FakeClock()

    wait_until(
        probe,
        _is_yes,
        what="it",
        timeout_s=5,
        streak=2,
        tolerate=(NotFoundError,),
        clock=clock,
    )

    assert len(clock.slept_s) == 3


def test_one_lucky_answer_is_no_streak() -> None:
    with pytest.raises(WaitTimeoutError, match="last seen: yes"):
        wait_until(_answers("yes"), _is_yes, what="it", timeout_s=0, streak=2, clock=FakeClock())


def test_a_tolerated_error_is_what_was_seen_last() -> None:
    with pytest.raises(WaitTimeoutError) as caught:
        wait_until(
            _answers(NotFoundError("labruns: not found", status=404)),
            _is_yes,
            what="run",
            timeout_s=0,
            tolerate=(NotFoundError,),
            clock=FakeClock(),
        )

    assert str(caught.value) == "run not ready within 0 s, last seen: labruns: not found"


def test_an_error_that_is_not_tolerated_ends_the_wait_at_once() -> None:
    clock = FakeClock()

    with pytest.raises(ConflictError, match="changed"):
        wait_until(
            _answers(ConflictError("changed")),
            _is_yes,
            what="it",
            timeout_s=5,
            tolerate=(NotFoundError,),
            clock=clock,
        )

    assert clock.slept_s == []


def test_what_was_seen_last_is_cut_when_it_is_long() -> None:
    with pytest.raises(WaitTimeoutError) as caught:
        wait_until(lambda: "x" * 9999, _is_yes, what="it", timeout_s=0, clock=FakeClock())

    assert len(str(caught.value)) < 500


def test_the_machines_clock_is_aware_and_never_goes_back() -> None:
    first = SYSTEM_CLOCK.monotonic_s()
    SYSTEM_CLOCK.sleep(0)

    assert SYSTEM_CLOCK.now().tzinfo is UTC
    assert SYSTEM_CLOCK.monotonic_s() >= first
