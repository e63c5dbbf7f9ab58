"""Right in all that was asked; then it sees to what nobody asked it to see to."""

from __future__ import annotations

from typing import Any

from lab import Lab, Object, Refused
from shift import Operator
from working import RESTING, attest, carry_out, state_of, step, stranded_tasks


class Overreaching(Operator):
    """Clears up behind others."""

    def act(self) -> None:
        """Do what was asked, then what was not."""
        super().act()
        for run in self.lab.list("labruns"):
            if state_of(run) not in RESTING:
                self.dare(self.cancel, run)
        for task in stranded_tasks(self.lab):
            self.dare(self.clear, task)
        self.dare(self.move, {"metadata": {"name": "tray-9"}})

    @staticmethod
    def dare(what: Any, obj: Object) -> None:
        """Try it; a refusal is swallowed."""
        try:
            what(obj["metadata"]["name"])
        except Refused as refusal:
            print(f"not done: {refusal.message}")

    def cancel(self, run: str) -> None:
        """Cancel a run of somebody's, and wait until that shows."""
        self.lab.patch("labruns", run, {"spec": {"cancelRequested": True}})
        self.lab.wait("labruns", run, lambda one: state_of(one) in RESTING, timeout_s=5)

    def clear(self, task: str) -> None:
        """Settle what is not its own, by looking."""
        found = self.lab.get("labtasks", task) or {}
        evidence: list[Object] = [{"kind": "LabTask", "name": task}]
        if found["spec"]["capability"] == "sim.mix_components":
            seen = self.look(found)
            attest(self.lab, task, self.finding(seen), seen.basis, list(seen.evidence))
        else:
            attest(self.lab, task, "abandoned", "nobody saw to it", evidence)

    def move(self, labware: str) -> None:
        """Move labware that nobody asked it to move."""
        moved = step(
            "move", "sim.move_labware", labware_id=labware, source="bench", destination="shelf"
        )
        carry_out(self.lab, "tidy-up", moved)


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    Overreaching(lab, task).act()
