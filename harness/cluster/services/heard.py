"""What a process of the laboratory says of itself: `ready {json}`, `paused POINT {json}`.

Called with every line that it prints, from whatever thread reads them; asked by whoever waits.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.core.waiting import wait_until
from harness.errors import ClusterError, WaitTimeoutError

#: Characters of a log that an error carries, from its end.
TAIL_CHARS = 1200

_READY = "ready "
_PAUSED = "paused "


def log_tail(path: Path, limit_chars: int = TAIL_CHARS) -> str:
    """Return the end of a log in one line, for an error."""
    try:
        with path.open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(0, size - limit_chars))
            text = log.read().decode(errors="replace")
    except OSError:
        return "no log"
    return " | ".join(line.strip() for line in text.splitlines() if line.strip()) or "an empty log"


class Heard:
    """The lines of one process that mean something."""

    def __init__(self, name: str, *, log_path: Path) -> None:
        """Expect lines.

        Args:
            name: Whose, for messages.
            log_path: Where all of its lines are, for messages.
        """
        self._name = name
        self._log_path = log_path
        self._lock = threading.Lock()
        self._said: str | None = None
        self._paused_at: str | None = None

    def __call__(self, line: str) -> None:
        """Take one line. Any thread may."""
        with self._lock:
            if line.startswith(_READY):
                self._said = self._said or line.removeprefix(_READY)
            elif line.startswith(_PAUSED):
                self._paused_at = line.removeprefix(_PAUSED).partition(" ")[0]

    @property
    def paused_at(self) -> str | None:
        """The point at which it stopped itself, as it was told to; None while it works."""
        with self._lock:
            return self._paused_at

    def ready(self, *, timeout_s: float, ended: Callable[[], ClusterError | None]) -> Any:
        """Wait until it says that it is ready; return what it says beside.

        Args:
            timeout_s: Bound in seconds.
            ended: Returns the error to raise when it will say nothing any more, else None.

        Raises:
            ClusterError: It ended, said something else than a JSON object, or nothing in time.
        """

        def probe() -> str | None:
            error = ended()
            with self._lock:  # asked after, so that what it said as its last act counts
                said = self._said
            if said is None and error is not None:
                raise error
            return said

        try:
            said = wait_until(
                probe,
                lambda seen: seen is not None,
                what=self._name,
                timeout_s=timeout_s,
                interval_s=0.01,
            )
        except WaitTimeoutError as error:
            msg = f"{self._name} not ready within {timeout_s:g} s: {log_tail(self._log_path)}"
            raise ClusterError(msg, hint=f"read {self._log_path}") from error
        try:
            value = json.loads(said or "null")
        except json.JSONDecodeError:
            value = None
        if not isinstance(value, dict):
            msg = f"{self._name} said it is ready with {said!r}, a JSON object expected"
            raise ClusterError(msg, hint=f"read {self._log_path}")
        return value
