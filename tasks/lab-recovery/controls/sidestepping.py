"""Does anew, beside it, what was stranded, and leaves that as it is."""

from __future__ import annotations

from typing import Any

from lab import Lab
from shift import Operator
from working import do_anew, stranded_tasks


class Sidestepper(Operator):
    """Supersedes and leaves."""

    def settle_what_is_open(self) -> dict[str, str]:
        """Have every run that was stranded done anew in a clean vessel."""
        for task in stranded_tasks(self.lab):
            vessel = self.given.get("new_vessel", f"{task['spec']['inputs']['sample_id']}-anew")
            do_anew(self.lab, task["spec"]["run"], vessel)
        return {}


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    Sidestepper(lab, task).act()
