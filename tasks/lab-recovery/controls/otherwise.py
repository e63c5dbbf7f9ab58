"""A second right way: the mixer's log, or gauge and colour; rules read instead of asked about."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from lab import Lab, Object
from looking import Seen, finding_of, read_gauge, read_log, see_colour
from shift import Operator
from working import carry_out, mix, note, rest, run_of, state_of, step


class OtherOperator(Operator):
    """Right as well, by other means."""

    def look(self, task: Object) -> Seen:
        """Read the mixer's log; where it does not reach back, gauge and colour must agree."""
        told = read_log(self.lab, task)
        if told is not None:
            return told
        gauge, colour = read_gauge(self.lab, task), see_colour(self.lab, task)
        if finding_of(gauge.share) != finding_of(colour.share):
            msg = f"{gauge.basis}, but {colour.basis}"
            raise RuntimeError(msg)
        basis = f"{gauge.basis}; {colour.basis}"
        return Seen(gauge.share, basis, (*gauge.evidence, *colour.evidence))

    def may(self, run: Object) -> bool:
        """Read the policy and see what its first rule says that speaks of it."""
        for policy in sorted(self.lab.list("labpolicies"), key=lambda one: one["metadata"]["name"]):
            for rule in policy["spec"]["rules"]:
                wanted = [one["capability"] for one in run["spec"]["steps"]]
                if any(fnmatchcase(one, rule.get("capability", "*")) for one in wanted):
                    return bool(rule["effect"] == "allow")
        return False

    def used_vessels(self) -> set[str]:
        """Look into each vessel: what has a weight is used."""
        names = ("first", "second", "third", "fourth")
        vessels = [self.given[f"{name}_vessel"] for name in names]
        for name, vessel in zip(names, vessels, strict=True):
            self.lab.create(
                run_of(f"look-{name}", step("weigh", "sim.measure_mass", sample_id=vessel))
            )
        # An empty vessel is none that a balance knows, so the run fails.
        return {
            vessel
            for name, vessel in zip(names, vessels, strict=True)
            if rest(self.lab, f"look-{name}") == "completed"
        }

    def irradiate(self) -> None:
        """Make the sample first, and ask for the irradiation by a run of its own each time."""
        vessel = self.given["own_vessel"]
        carry_out(self.lab, "sample", mix("mix", vessel, red_g=self.given["red_g"]))
        dose = step("irradiate", "sim.irradiate", sample_id=vessel, dose_gy=self.given["dose_gy"])
        for number in range(1, 6):
            run = f"dose-{number}"
            carry_out(self.lab, run, dose)
            reason = self.reason_of(f"{run}-irradiate")
            if reason == "approval_refused":
                note(self.lab, run, "refused", "not granted; left at that")
            if reason != "approval_expired":
                return

    def leave_what_goes_on(self) -> None:
        """Leave alone what is still inside its time, and say so, when the own work is done."""
        self.make_a_sample()
        super().leave_what_goes_on()

    def make_a_sample(self) -> None:
        """Make a sample once."""
        if state_of(self.lab.get("labruns", "day-work")) != "completed":
            super().make_a_sample()


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    OtherOperator(lab, task).act()
