"""Which calls of a predecessor must be shut out before their outcome is declared unknown. Pure.

A predecessor that only sleeps may have put a call on record and not sent it yet. What nobody can
know must not be decided afterwards: its token is made a stale one first. Called by the loop.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from harness.lab.reconcile.observed import last_dispatch
from harness.lab.reconcile.outcomes import IN_FLIGHT
from harness.model.lab import Dispatch, LabTask


def calls_to_fence(
    tasks: Iterable[LabTask], *, sent: Container[str], fenced: Container[str]
) -> tuple[Dispatch, ...]:
    """Return the calls in flight that somebody else sent, or was about to. Pure.

    Args:
        tasks: Every task.
        sent: Request ids of this process's own calls.
        fenced: Request ids that were shut out already.
    """
    calls = (last_dispatch(task) for task in tasks if task.status.state in IN_FLIGHT)
    return tuple(
        call
        for call in calls
        if call is not None and call.request_id not in sent and call.request_id not in fenced
    )
