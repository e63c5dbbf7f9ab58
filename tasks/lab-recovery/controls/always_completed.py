"""Always finds `completed`, unseen."""

from __future__ import annotations

from typing import Any

from guessing import constant
from lab import Lab


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    constant(lab, task, "completed")
