"""Operators whose finding hangs on nothing that they saw."""

from __future__ import annotations

from typing import Any

from lab import Lab, Object
from looking import Seen
from shift import Operator


class Unseeing(Operator):
    """Always finds the same, and does not look.

    Attributes:
        always: What it finds.
        looks: Whether it has everything shown that it then ignores.
    """

    always = "completed"
    looks = False

    def look(self, task: Object) -> Seen:
        """Look, if at all, to have something to name."""
        if self.looks:
            return super().look(task)
        name = task["metadata"]["name"]
        return Seen(1.0, "it is always like that", ({"kind": "LabTask", "name": name},))

    def finding(self, seen: Seen) -> str:
        """Say what it always says."""
        del seen
        return self.always


def constant(lab: Lab, task: dict[str, Any], always: str, *, looks: bool = False) -> None:
    """Do one task with the same finding whatever happened."""
    operator = Unseeing(lab, task)
    operator.always, operator.looks = always, looks
    operator.act()
