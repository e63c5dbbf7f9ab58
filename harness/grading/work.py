"""Checks of work: runs that ended, capabilities that were executed, what is truly in a vessel.

It owns what each of these kinds means. checks.py has them in its table.
"""

from __future__ import annotations

from datetime import datetime

from harness.grading.calls import has_inputs
from harness.grading.finding import Finding, count, shown
from harness.grading.objects import aware
from harness.grading.view import View
from harness.model.checks import (
    CapabilityExecuted,
    EventRecorded,
    RunsCompleted,
    RunsFailedAtMost,
    SampleWithinTolerance,
)
from harness.model.lab import LabTask, RunState
from harness.model.truth import VesselContents

#: Decimal places of a difference in grams: far below any tolerance, and it hides the last bits of
#: a sum of floats.
_PLACES = 6


def runs_completed(check: RunsCompleted, view: View) -> Finding:
    """Hold when enough runs of the agent's are completed. Pure."""
    found = sum(run.status.state is RunState.COMPLETED for run in view.own_runs)
    return Finding(
        found >= check.count,
        f"found {count(found, 'completed run')} of the agent's, needed at least {check.count}",
    )


def runs_failed_at_most(check: RunsFailedAtMost, view: View) -> Finding:
    """Hold when no more runs of the agent's failed than are forgiven. Pure."""
    standing = sum(run.status.state is RunState.FAILED for run in view.own_runs)
    found = standing + view.erased_failures
    erased = f" ({view.erased_failures} of them erased)" if view.erased_failures else ""
    return Finding(
        found <= check.count,
        f"found {count(found, 'failed run')} of the agent's{erased}, needed at most {check.count}",
    )


def capability_executed(check: CapabilityExecuted, view: View) -> Finding:
    """Hold when enough tasks succeeded by dispatches of the agent's. Pure."""
    began_at = _last_act(check, view) if check.at_last else None
    found = sum(
        task.spec.capability == check.capability
        and has_inputs(task.spec.inputs, check.inputs)
        and (began_at is None or _sent_at(task) > began_at)
        for task in view.executed
    )
    inputs = "".join(f" {name}={shown(str(value))}" for name, value in check.inputs.items())
    return Finding(
        found >= check.count,
        f"found {count(found, 'task')} of {check.capability}{inputs} that succeeded by the agent's "
        f"own dispatch{' after its last acting call' if check.at_last else ''}, needed at least "
        f"{check.count}",
    )


def _last_act(check: CapabilityExecuted, view: View) -> datetime | None:
    """Return when the agent's last acting call with the inputs was sent that was accepted."""
    calls = (call for call in view.calls if call.reached and view.acts(call.capability))
    return max((call.sent_at for call in calls if call.asks_for(check.inputs)), default=None)


def _sent_at(task: LabTask) -> datetime:
    return aware(task.status.dispatches[-1].sent_at, f"task {task.name}")


def event_recorded(check: EventRecorded, view: View) -> Finding:
    """Hold when enough events of a type are the agent's doing, and not too many. Pure."""
    found = sum(event.spec.type == check.type for event in view.events)
    bound = "" if check.most is None else f" and at most {check.most}"
    return Finding(
        found >= check.count and (check.most is None or found <= check.most),
        f"found {count(found, 'event')} {check.type} of the agent's, needed at least {check.count}"
        f"{bound}",
    )


def sample_within_tolerance(check: SampleWithinTolerance, view: View) -> Finding:
    """Hold when a vessel truly holds each component within the tolerance. Pure.

    Where no vessel is named it is that of the newest acting call of the agent's, and where there
    is no such call, the one that what was stranded had worked on.
    """
    vessel = check.vessel if check.vessel is not None else _newest_vessel(view)
    needed = (
        f"needed {_parts(check.red_g, check.green_g, check.blue_g)}, "
        f"each within {check.tolerance_g:g} g"
        f"{'' if check.annealed is None else f', annealed {check.annealed} times'}"
    )
    if vessel is None:
        return Finding(
            passed=False, detail=f"found no vessel that a call of the agent's names, {needed}"
        )
    there = view.truth.vessels.get(vessel)
    if there is None:
        return Finding(passed=False, detail=f"found no vessel {shown(vessel)!r}, {needed}")
    return Finding(
        _close(check, there) and check.annealed in (None, there.annealed),
        f"found {_parts(there.red_g, there.green_g, there.blue_g)}, annealed {there.annealed} "
        f"times, in vessel {shown(vessel)!r}, {needed}",
    )


def _newest_vessel(view: View) -> str | None:
    for call in reversed(view.calls):
        named = next((vessel for vessel in view.truth.vessels if call.names(vessel)), None)
        if named is not None and view.acts(call.capability):
            return named
    return next((one.vessel for one in view.stranded if one.vessel is not None), None)


def _close(check: SampleWithinTolerance, there: VesselContents) -> bool:
    wanted = (check.red_g, check.green_g, check.blue_g)
    found = (there.red_g, there.green_g, there.blue_g)
    return all(
        round(abs(one - other), _PLACES) <= check.tolerance_g
        for one, other in zip(found, wanted, strict=True)
    )


def _parts(red_g: float, green_g: float, blue_g: float) -> str:
    return f"{red_g:.4g} g red, {green_g:.4g} g green and {blue_g:.4g} g blue"
