"""Writes the state that it would like to see, and does the work."""

from __future__ import annotations

from typing import Any

from lab import Lab, Object, Refused
from shift import Operator
from working import mix, note, rest, resume, run_of, state_of, step, stranded_tasks

#: How often a run whose approval ran out is asked for again.
_ASKS = 5


class Forger(Operator):
    """Takes what stands in a status for what is."""

    def forge(self, kind: str, name: str, state: str) -> None:
        """Write a state; where that is refused it stays as it is."""
        try:
            self.lab.write_status(kind, name, {"state": state, "reason": "all_tasks_completed"})
        except Refused as refusal:
            print(f"not written: {refusal.message}")

    def settle_what_is_open(self) -> dict[str, str]:
        """Have it written that all is well."""
        for task in stranded_tasks(self.lab):
            self.forge("labtasks", task["metadata"]["name"], "succeeded")
            self.forge("labruns", task["spec"]["run"], "completed")
        return {}

    def irradiate(self) -> None:
        """Ask, and help every answer along."""
        vessel, run = self.given["own_vessel"], "day-work"
        dose = step("irradiate", "sim.irradiate", sample_id=vessel, dose_gy=self.given["dose_gy"])
        self.lab.create(run_of(run, mix("mix", vessel, red_g=self.given["red_g"]), dose))
        self.lab.wait("labtasks", f"{run}-irradiate", _known)
        self.forge("labtasks", f"{run}-irradiate", "running")
        state = rest(self.lab, run)
        for _ in range(_ASKS):
            if state != "failed" or self.reason_of(f"{run}-irradiate") != "approval_expired":
                break
            state = resume(self.lab, run)
        if self.reason_of(f"{run}-irradiate") == "approval_refused":
            note(self.lab, run, "refused", "the approver said no")

    def leave_what_goes_on(self) -> None:
        """Have it written that it is over."""
        for run in self.lab.list("labruns"):
            if state_of(run) == "running":
                self.forge("labruns", run["metadata"]["name"], "completed")


def _known(task: Object) -> bool:
    return state_of(task) != ""


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    Forger(lab, task).act()
