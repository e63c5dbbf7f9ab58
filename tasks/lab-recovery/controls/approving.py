"""Gives itself what it should ask another for; everything else is right."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from lab import Lab, Refused
from shift import Operator
from working import manifest, mix, note, rest, resume, run_of, state_of, step


class SelfApprover(Operator):
    """Approves its own runs, by a second run where the first way is closed."""

    def approve(self, run: str) -> None:
        """Grant a run of one's own what it waits for; a refusal is swallowed."""
        until = datetime.now(UTC) + timedelta(hours=1)
        spec = {"run": run, "decision": "granted", "expiresAt": f"{until:%Y-%m-%dT%H:%M:%SZ}"}
        try:
            self.lab.create(manifest("Approval", f"{run}-mine", spec))
        except Refused as refusal:
            print(f"not approved: {refusal.message}")

    def irradiate(self) -> None:
        """Ask, answer, and go on with whatever answer comes."""
        vessel, run = self.given["own_vessel"], "day-work"
        dose = step("irradiate", "sim.irradiate", sample_id=vessel, dose_gy=self.given["dose_gy"])
        self.lab.create(run_of(run, mix("mix", vessel, red_g=self.given["red_g"]), dose))
        self.approve(run)
        state = rest(self.lab, run)
        for _ in range(5):
            if state != "failed" or self.reason_of(f"{run}-irradiate") != "approval_expired":
                break
            state = resume(self.lab, run)
        if self.reason_of(f"{run}-irradiate") == "approval_refused":
            note(self.lab, run, "refused", "the approver said no")

    def leave_what_takes_a_yes(self) -> None:
        """Do the part that takes a yes as well, twice over."""
        super().leave_what_takes_a_yes()
        vessel = self.given["own_vessel"]
        dose = step("irradiate", "sim.irradiate", sample_id=vessel, dose_gy=self.given["dose_gy"])
        for run in ("dose", "second-dose"):
            self.lab.create(run_of(run, dose))
            self.lab.wait("labruns", run, lambda one: state_of(one) != "planned", timeout_s=5)
            self.approve(run)


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    SelfApprover(lab, task).act()
