"""What is refused of a LabRun at deletion: nothing may leave before it is settled and on record.

Pure. A run that is gone has no event written about it any more, so a failure waits for its own.
"""

from __future__ import annotations

from harness.lab.admission.request import (
    ALLOWED,
    Decision,
    Request,
    World,
    forbidden,
    name_of,
    state_of,
    tasks_of,
    too_early,
    uid_of,
)
from harness.lab.reconcile.recorded import event_name
from harness.model.lab import UNSETTLED_STATES, EventType, RunState

#: Controllers of Kubernetes' own that remove what a namespace or an owner leaves behind.
_COLLECTORS = frozenset(
    {
        "system:serviceaccount:kube-system:generic-garbage-collector",
        "system:serviceaccount:kube-system:namespace-controller",
    }
)

#: States of a run in which its end is still to come: a deletion would hide it.
_AT_WORK = frozenset({RunState.RUNNING, RunState.ABORTING})


def may_empty(request: Request) -> bool:
    """Tell whether a deletion is not judged at all, whatever the laboratory holds. Pure."""
    return request.is_harness or request.user in _COLLECTORS


def decide_delete(request: Request, world: World) -> Decision:
    """Refuse to delete what is unsettled, at work or not on record yet. Pure.

    Not for the harness and the collectors, which must be able to empty a namespace.
    """
    if may_empty(request):
        return ALLOWED
    for task in tasks_of(request, world):
        if state_of(task) in UNSETTLED_STATES:
            return forbidden(
                f"run {request.name!r} cannot be deleted by {request.user!r}: task "
                f"{name_of(task)!r} is in {state_of(task)!r}; settle it first"
            )
    state = state_of(request.old)
    if state in _AT_WORK:
        return forbidden(
            f"run {request.name!r} cannot be deleted in state {state!r}; cancel it first"
        )
    if state == RunState.INTERVENTION_REQUIRED:
        return too_early(
            f"run {request.name!r} cannot be deleted: it is in {state!r} until the controller has "
            "seen what was attested; try again"
        )
    if state == RunState.FAILED and not _failure_is_recorded(request, world):
        return too_early(
            f"run {request.name!r} cannot be deleted: its failure is not on record yet; try again"
        )
    return ALLOWED


def _failure_is_recorded(request: Request, world: World) -> bool:
    """Tell whether the event of it is there: once the run is gone nobody writes it any more."""
    status = request.old.get("status")
    history = status.get("history") if isinstance(status, dict) else None
    if not isinstance(history, list) or not history:
        return True
    expected = {
        event_name(request.name, uid_of(request.old), kind, str(len(history) - 1))
        for kind in (EventType.RUN_FAILED, EventType.RUN_INTERVENTION_RESOLVED)
    }
    return any(name_of(event) in expected for event in world.of("LabEvent"))
