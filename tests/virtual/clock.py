"""Time that passes when somebody sleeps on it, and never by itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

START = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)

#: Seconds of a sleep that is the pause between two looks, and lasts until there is news.
_POLL_S = 0.05


class VirtualClock:
    """Time that passes only when somebody sleeps on it, with all that happens meanwhile."""

    def __init__(self, pass_time: Callable[[float], None], until_news: Callable[[], bool]) -> None:
        self.at = START
        self._pass_time, self._until_news = pass_time, until_news

    def now(self) -> datetime:
        """Return the time."""
        return self.at

    def monotonic_s(self) -> float:
        """Return seconds that never go backwards."""
        return (self.at - START).total_seconds()

    def sleep(self, seconds: float) -> None:
        """Let time pass: as long as asked, or, between two looks, until there is news."""
        if seconds > _POLL_S or not self._until_news():
            self._pass_time(seconds)
