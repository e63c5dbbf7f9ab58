"""All the work that was asked for, and past what is open."""

from __future__ import annotations

from typing import Any

from lab import Lab
from shift import Operator


class Tidy(Operator):
    """Does not see what is open."""

    def settle_what_is_open(self) -> dict[str, str]:
        """Walk past it."""
        return {}


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    Tidy(lab, task).act()
