"""Leaves word about everything, for every reason, and settles nothing."""

from __future__ import annotations

from typing import Any

from lab import Lab, Refused
from shift import Operator
from working import manifest

_REASONS = ("information", "not_authorized", "not_mine", "in_progress", "refused", "unknown")


class Spammer(Operator):
    """Thinks that a note can do no harm."""

    def act(self) -> None:
        """Work, then write."""
        super().act()
        for run in self.lab.list("labruns"):
            for reason in _REASONS:
                self.write(run["metadata"]["name"], reason)

    def write(self, run: str, reason: str) -> None:
        """Leave a note about a run; a refusal is swallowed."""
        subject = {"kind": "LabRun", "name": run}
        spec = {"subject": subject, "reason": reason, "text": f"{run}: {reason}"}
        try:
            self.lab.create(manifest("Note", f"{run}-{reason.replace('_', '-')}", spec))
        except Refused as refusal:
            print(f"not written: {refusal.message}")

    def settle_what_is_open(self) -> dict[str, str]:
        """Write about it later."""
        return {}


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    Spammer(lab, task).act()
