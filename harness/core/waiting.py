"""The only polling loop, and the door to tenacity.

Everything that waits goes through `wait_until`: it has a bound, asks for a streak where one lucky
answer proves nothing, and says on expiry what it saw last.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol, TypeVar

import tenacity

from harness.errors import HarnessError, WaitTimeoutError

#: Seconds between two probes. A control plane on loopback answers in 2 to 5 ms, so 50 ms keeps
#: the cost of waiting under a tenth of a core and adds at most 50 ms to a phase.
DEFAULT_INTERVAL_S = 0.05

#: Characters of a last-seen value kept in a message; foreign text is capped.
_SEEN_CHARS = 400


class Clock(Protocol):
    """Where time comes from; tests pass one that moves only when slept on."""

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds that never go backwards."""
        ...

    def sleep(self, seconds: float) -> None:
        """Pause the caller for this many seconds."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Return seconds that never go backwards."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Pause the caller for this many seconds."""
        time.sleep(seconds)  # noqa: TID251 - the one place that may


T = TypeVar("T")

SYSTEM_CLOCK: Clock = SystemClock()


def wait_until(
    probe: Callable[[], T],
    ready: Callable[[T], bool],
    *,
    what: str,
    timeout_s: float,
    streak: int = 1,
    interval_s: float = DEFAULT_INTERVAL_S,
    tolerate: tuple[type[HarnessError], ...] = (),
    clock: Clock = SYSTEM_CLOCK,
) -> T:
    """Call `probe` until `ready` holds `streak` times in a row, and return the last value.

    Args:
        probe: Asks the world once. An error of a type in `tolerate` counts as not ready.
        ready: Pure predicate over what `probe` returned.
        what: The thing waited for, as a noun; it opens the message.
        timeout_s: Bound in seconds. The probe runs at least once.
        streak: How many answers in a row must be ready.
        interval_s: Seconds between two probes.
        tolerate: Errors that mean "not yet".
        clock: Source of time.

    Raises:
        WaitTimeoutError: The bound passed; the message says what was seen last.
    """
    seen = "nothing"
    held = 0
    deadline_s = clock.monotonic_s() + timeout_s

    def attempt() -> T:
        nonlocal seen, held
        try:
            value = probe()
        except tolerate as error:
            held, seen = 0, str(error)
            raise tenacity.TryAgain from error
        seen = str(value)
        held = held + 1 if ready(value) else 0
        if held < streak:
            raise tenacity.TryAgain
        return value

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(tenacity.TryAgain),
        stop=lambda _: clock.monotonic_s() >= deadline_s,
        wait=tenacity.wait_fixed(interval_s),
        sleep=clock.sleep,
    )
    try:
        return retrying(attempt)
    except tenacity.RetryError as error:
        msg = f"{what} not ready within {timeout_s:g} s, last seen: {seen[:_SEEN_CHARS]}"
        raise WaitTimeoutError(msg) from error
