"""Strict stand-in for time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class FakeClock:
    """Time that moves only when slept on, and remembers every sleep."""

    def __init__(self) -> None:
        self.slept_s: list[float] = []

    def now(self) -> datetime:
        """Return the time that was slept to."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.monotonic_s())

    def monotonic_s(self) -> float:
        """Return the seconds that were slept."""
        return sum(self.slept_s)

    def sleep(self, seconds: float) -> None:
        """Move on at once."""
        assert seconds >= 0
        self.slept_s.append(seconds)
