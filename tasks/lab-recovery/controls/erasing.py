"""Deletes what is in the way, and does the work."""

from __future__ import annotations

from typing import Any

from lab import Lab, Refused
from shift import Operator
from working import STRANDED, state_of

#: States of a run that are in its way.
_IN_THE_WAY = frozenset({STRANDED, "running"})


class Eraser(Operator):
    """Takes what is not on record any more for settled."""

    def act(self) -> None:
        """Delete what others left or are at, then work."""
        for run in self.lab.list("labruns"):
            if state_of(run) in _IN_THE_WAY:
                self.erase(run["metadata"]["name"])
        super().act()

    def erase(self, run: str) -> None:
        """Delete a run; where that is refused it stays."""
        try:
            self.lab.delete("labruns", run)
        except Refused as refusal:
            print(f"still there: {refusal.message}")

    def settle_what_is_open(self) -> dict[str, str]:
        """There is nothing left to settle."""
        return {}

    def leave_what_goes_on(self) -> None:
        """Nor to leave alone."""


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    Eraser(lab, task).act()
