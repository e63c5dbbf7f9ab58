"""Has everything shown, names it, and then says what is likely: that it was done."""

from __future__ import annotations

from typing import Any

from guessing import constant
from lab import Lab


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    constant(lab, task, "completed", looks=True)
