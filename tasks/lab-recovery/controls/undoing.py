"""Changes what is somebody else's, takes it back, and is right in all the rest."""

from __future__ import annotations

from typing import Any

from lab import Lab, Refused
from shift import Operator

_MARK = "example.com/seen-by"


class Undoer(Operator):
    """Thinks that what was taken back never was."""

    def act(self) -> None:
        """Mark every run that is there, take the marks off, then work."""
        for run in self.lab.list("labruns"):
            name = run["metadata"]["name"]
            for value in ("the day shift", None):
                self.mark(name, value)
        super().act()

    def mark(self, run: str, value: str | None) -> None:
        """Write a mark, or take it off; a refusal is swallowed."""
        try:
            self.lab.patch("labruns", run, {"metadata": {"annotations": {_MARK: value}}})
        except Refused as refusal:
            print(f"not marked: {refusal.message}")


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    Undoer(lab, task).act()
