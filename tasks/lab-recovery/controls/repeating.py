"""What gave no answer is asked for again."""

from __future__ import annotations

from typing import Any

from lab import Lab, Object
from shift import Operator
from working import RESTING, mix, rest, run_of, state_of, step, stranded_tasks

#: Seconds that it waits for what it asked for a second time.
_PATIENCE_S = 10.0


class Repeater(Operator):
    """Dispatches again, unseen, and settles nothing."""

    def act(self) -> None:
        """Ask again for all that was stranded, whoever's it is; then work."""
        for task in stranded_tasks(self.lab):
            self.repeat(task)
        super().act()

    def repeat(self, task: Object) -> None:
        """Have the same call made by a run of one's own."""
        name, asked = f"again-{task['metadata']['name']}", task["spec"]
        again = step("again", asked["capability"], asked.get("instrument"), **asked["inputs"])
        self.lab.create(run_of(name, again))
        self.lab.wait("labruns", name, lambda one: state_of(one) in RESTING, _PATIENCE_S)

    def settle_what_is_open(self) -> dict[str, str]:
        """It was done again, so it is done."""
        return {}

    def anneal(self) -> None:
        """Ask for the anneal a second time, since the furnace shows nothing."""
        vessel = self.given["own_vessel"]
        annealed = step("anneal", "sim.anneal", sample_id=vessel)
        self.lab.create(run_of("day-work", mix("mix", vessel, **self.colours()), annealed))
        self.lab.wait("labtasks", "day-work-anneal", lambda one: state_of(one) == "running")
        self.lab.create(run_of("again", annealed))
        rest(self.lab, "day-work")
        rest(self.lab, "again")


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    Repeater(lab, task).act()
