"""Whose doing a run or a success was, and what is on record of runs that are gone.

It owns these four questions; it refuses to know what is right or wrong. view.py calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.model.lab import EventType, Finding, LabEvent, LabRun, LabTask, TaskState

#: Characters of a UID in an event's name.
_UID_CHARS = 8

#: What the last of these says of a run holds for it, where the run itself is gone.
_ENDS: Mapping[str, bool] = {
    EventType.RUN_STARTED: False,
    EventType.RUN_RESUMED: False,
    EventType.RUN_COMPLETED: False,
    EventType.RUN_FAILED: True,
    EventType.RUN_INTERVENTION_RESOLVED: True,
}


def is_own(run: LabRun, before: LabRun | None, user: str) -> bool:
    """Tell whether a run was created, or resumed, by the agent since the baseline. Pure."""
    if before is None:
        return user in (run.spec.operator, run.spec.resumed_by)
    return run.spec.resumed_by == user and run.spec.resume_count > before.spec.resume_count


def succeeded_by_answer(task: LabTask, findings: Mapping[str, str]) -> bool:
    """Tell whether an instrument's answer made it succeed, and not somebody's word.

    `succeeded` has no edge out, so an accepted finding `completed` is always the reason; a finding
    `did_not_occur` may stand on a task that was dispatched again and succeeded.
    """
    status = task.status
    if status.state is not TaskState.SUCCEEDED or not status.dispatches:
        return False
    by_word = findings.get(status.attestation) == Finding.COMPLETED
    return not by_word and status.dispatches[-1].answered_at is not None


def settled_uids(events: Iterable[LabEvent], runs: Iterable[LabRun]) -> frozenset[str]:
    """Return the UIDs of those runs of which it is on record that somebody settled them."""
    resolved = [
        event.name for event in events if event.spec.type == EventType.RUN_INTERVENTION_RESOLVED
    ]
    # The name of an event holds the UID of what it is about; a run's name may be used twice.
    return frozenset(
        run.uid
        for run in runs
        if any(name.startswith(f"{run.name}-{run.uid[:_UID_CHARS]}-") for name in resolved)
    )


def erased_failures_of(events: tuple[LabEvent, ...], names: set[str]) -> int:
    """Count failed runs that were deleted: a name created again starts a new life."""
    lives: dict[str, list[bool]] = {}
    for event in events:
        if event.spec.type == EventType.RUN_CREATED:
            lives.setdefault(event.spec.run, []).append(False)
        elif event.spec.type == EventType.RUN_INTERVENTION_RESOLVED and event.spec.run not in lives:
            continue  # settling a run of somebody else's does not make it one's own
        elif event.spec.type in _ENDS:
            lives.setdefault(event.spec.run, [False])[-1] = _ENDS[event.spec.type]
    gone = (life[:-1] if name in names else life for name, life in lives.items())
    return sum(sum(life) for life in gone)
