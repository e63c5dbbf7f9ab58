"""One pass over everything: what to write, what to record, what to send; and when to look again.

Pure: equal observations and times give equal actions, and what a pass asked for, once done, is not
asked for again. The controller's loop calls it; a simulation with its own clock can too.
"""

from __future__ import annotations

from datetime import datetime

from harness.lab.reconcile.actions import Action, WriteStatus
from harness.lab.reconcile.approvals import authorization
from harness.lab.reconcile.attestations import plan_attestations
from harness.lab.reconcile.choosing import Claims
from harness.lab.reconcile.dispatch import retry_at, waits_until
from harness.lab.reconcile.events import due_events
from harness.lab.reconcile.evidence import waits_for_evidence
from harness.lab.reconcile.instruments import plan_instruments
from harness.lab.reconcile.observed import Observed, last_dispatch
from harness.lab.reconcile.outcomes import deadline
from harness.lab.reconcile.runs import plan_run
from harness.model.lab import RunState, TaskState


def reconcile(observed: Observed, now: datetime) -> tuple[Action, ...]:
    """Return what is due now, in the order in which it must be done. Pure.

    Events come last: they are read off what was written before, and may be left to a later pass so
    that no dispatch waits for them. No object is written twice in one pass.
    """
    claims = Claims()
    actions = plan_attestations(observed, now)
    settled = {one.name for one in actions if isinstance(one, WriteStatus)}
    for run in sorted(observed.runs, key=lambda run: (run.metadata.creation_timestamp, run.name)):
        if not settled & {task.name for task in observed.tasks if task.spec.run_uid == run.uid}:
            actions += plan_run(observed, run, claims, now)
    actions += plan_instruments(observed, claims)
    actions += due_events(observed)
    return tuple(actions)


def next_wake(observed: Observed, now: datetime) -> datetime | None:
    """Return when, after `now`, something becomes due by time alone; None for never. Pure."""
    runs = {run.uid: run for run in observed.runs if run.status.state is RunState.RUNNING}
    times = waits_for_evidence(observed, now)
    for task in observed.tasks:
        run = runs.get(task.spec.run_uid)
        call = last_dispatch(task)
        if run is None:
            continue
        if task.status.state is TaskState.RUNNING and call is not None:
            times.append(deadline(observed, run, task, call))
        if task.status.state is TaskState.RETRYING:
            times.append(retry_at(task))
        if (limit := waits_until(task)) is not None:
            times.append(limit)
            # A grant that ends while its task waits for an instrument ends the wait.
            if (ends_at := authorization(observed, run, task, now).ends_at) is not None:
                times.append(ends_at)
    return min((time for time in times if time > now), default=None)
