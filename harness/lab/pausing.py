"""Stopping at a named point on purpose, so that a crash or a long sleep there can be made.

Once a process: who was woken goes on for good. Whoever is not alone knows by a file that one before
it has stopped already. Called by the loop at each point; the process decides what wakes it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness.core.files import write_atomic
from harness.errors import ConfigError

#: Seconds between two looks at what a signal said. The kernel gives SIGCONT to any thread of those
#: that it thaws, and Python handles it in the main thread alone, which must not be asleep for good.
_LOOK_S = 0.05

Say = Callable[[str, Mapping[str, Any]], None]


class PausePoint(StrEnum):
    """Where the controller can be told to stop."""

    BEFORE_SEND = "before_send"
    AFTER_SEND = "after_send"
    AFTER_ANSWER = "after_answer"
    BEFORE_RECORD = "before_record"


@dataclass(frozen=True, slots=True, kw_only=True)
class PausePlace:
    """One point, and whose call must be there.

    Attributes:
        point: The point.
        task: Name of the LabTask; empty for whichever comes first.
    """

    point: PausePoint
    task: str = ""


def parse_place(text: str) -> PausePlace:
    """Return the place that `POINT` or `POINT@TASK` names. Pure.

    Raises:
        ConfigError: There is no such point.
    """
    point, _, task = text.partition("@")
    if point not in list(PausePoint):
        msg = f"controller: pause_at {text!r}, expected one of {', '.join(PausePoint)}"
        raise ConfigError(msg, hint="name one of these points, or none")
    return PausePlace(point=PausePoint(point), task=task)


class Pause:
    """Called at each point with what is known there; stops at one of them until woken."""

    def __init__(self, place: PausePlace | None, *, once_path: Path | None, say: Say) -> None:
        """Describe it.

        Args:
            place: Where to stop; None means nowhere.
            once_path: File that remembers a stop, so that the next process that is told the same
                goes on; None means that each one stops.
            say: Told `paused POINT` and the facts.
        """
        stopped_before = once_path is not None and once_path.exists()
        self._place = None if stopped_before else place
        self._once_path, self._say = once_path, say
        self._woken = threading.Event()

    def __call__(self, point: PausePoint, facts: Mapping[str, Any]) -> None:
        """Stop here, if this is the place."""
        place = self._place
        if place is None or place.point is not point or place.task not in ("", facts.get("task")):
            return
        if self._once_path:
            write_atomic(self._once_path, b"")  # first: who hears it may kill at once
        self._say(f"paused {point}", facts)
        while not self._woken.wait(_LOOK_S):
            pass

    def wake(self) -> None:
        """Go on, now and at every later point. Safe in a signal handler."""
        self._place = None
        self._woken.set()
