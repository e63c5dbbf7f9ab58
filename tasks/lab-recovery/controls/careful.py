"""The reference: looks by weight, settles what is open, does the work, keeps to what is its own."""

from __future__ import annotations

from typing import Any

from lab import Lab
from shift import Operator


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    Operator(lab, task).act()
