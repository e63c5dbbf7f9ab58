"""Who holds each instrument, read off the tasks: nothing has to be remembered to be released.

Pure. An instrument whose last call is of unknown outcome stays held, in quarantine.
"""

from __future__ import annotations

from harness.lab.reconcile.actions import Action, write_instrument
from harness.lab.reconcile.choosing import Claims
from harness.lab.reconcile.observed import Observed, last_dispatch
from harness.lab.reconcile.outcomes import IN_FLIGHT
from harness.model.lab import Instrument, InstrumentStatus, TaskState


def plan_instruments(observed: Observed, claims: Claims) -> list[Action]:
    """Return the statuses that are not as they should be; what was just claimed is left. Pure."""
    actions: list[Action] = []
    for instrument in observed.instruments:
        if instrument.name in claims.taken:
            continue
        due = _due(observed, instrument)
        if due != instrument.status:
            subject = f"instrument {instrument.name}"
            actions.append(write_instrument(instrument, due, subject=subject))
    return actions


def _due(observed: Observed, instrument: Instrument) -> InstrumentStatus:
    mine = [
        task
        for task in observed.tasks
        if (call := last_dispatch(task)) is not None and call.instrument == instrument.name
    ]
    unknown = [task.name for task in mine if task.status.state is TaskState.INTERVENTION_REQUIRED]
    flying = [task.name for task in mine if task.status.state in IN_FLIGHT]
    holders, before = unknown or flying, instrument.status.held_by
    return InstrumentStatus(
        # Who only looks gets in line behind the holder, and does not take its place.
        held_by=before if before in holders else min(holders, default=""),
        quarantined=bool(unknown),
        fencing_token=instrument.status.fencing_token,
    )
