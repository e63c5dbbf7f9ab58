"""What the controller should do next: pure, level-triggered, from all that there is to see."""

from __future__ import annotations

from harness.lab.reconcile.actions import Action, Create, Send, WriteStatus
from harness.lab.reconcile.observed import Answer, Facts, Observed
from harness.lab.reconcile.reconcile import next_wake, reconcile

__all__ = [
    "Action",
    "Answer",
    "Create",
    "Facts",
    "Observed",
    "Send",
    "WriteStatus",
    "next_wake",
    "reconcile",
]
