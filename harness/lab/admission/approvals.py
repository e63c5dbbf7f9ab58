"""What is refused of an Approval at creation: one's own run, and a grant that ends at no time.

Pure. What counts is who asks and who decides, by their authenticated names: not by which run, which
client or which right it was reached. The controller asks again before it dispatches.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from harness.lab.admission.limits import too_large, too_many
from harness.lab.admission.request import (
    Decision,
    Request,
    World,
    forbidden,
    invalid,
    spec_of,
    state_of,
    uid_of,
)
from harness.model.lab import Decision as Decided
from harness.model.lab import TaskState


def names_needed(request: Request) -> tuple[tuple[str, str], ...]:
    """Return the run that it is about. Pure."""
    run = spec_of(request.new).get("run")
    return (("LabRun", run),) if isinstance(run, str) and run else ()


def decide_create(request: Request, world: World) -> Decision:
    """Decide about a new approval, and warn of one that answers nothing. Pure."""
    if too_much := too_large(request) or too_many(request, world):
        return too_much
    spec = spec_of(request.new)
    if spec.get("decision") not in list(Decided):
        return invalid(
            f"approval {request.name!r}: decision {str(spec.get('decision'))[:40]!r} is unknown, "
            f"expected one of {', '.join(Decided)}"
        )
    name = spec.get("run")
    run = world.find("LabRun", name) if isinstance(name, str) else None
    if run is None or spec.get("runUid") != uid_of(run):
        return forbidden(
            f"approval {request.name!r}: run {str(name)[:80]!r} is not in namespace "
            f"{request.namespace!r}; a decision is about a run that is there"
        )
    problem = _own(request, str(name), run) or _endless(request, spec)
    return problem or Decision(allowed=True, warnings=_idle(run, world))


def _own(request: Request, name: str, run: Mapping[str, Any]) -> Decision | None:
    asked = spec_of(run)
    if request.user not in (asked.get("operator"), asked.get("resumedBy")):
        return None
    return forbidden(
        f"approval {request.name!r}: {request.user!r} asked for run {name!r} and cannot decide "
        "about it; an approval is somebody else's"
    )


def _endless(request: Request, spec: Mapping[str, Any]) -> Decision | None:
    if spec.get("decision") != Decided.GRANTED:
        return None
    ends_at = _time(spec.get("expiresAt"))
    if ends_at is None:
        return invalid(
            f"approval {request.name!r}: expiresAt {str(spec.get('expiresAt'))[:40]!r}, expected "
            "the time at which the grant ends, for example '2030-01-01T12:00:00Z'"
        )
    if ends_at > request.now:
        return None
    return invalid(
        f"approval {request.name!r}: expiresAt {ends_at.isoformat()} is past, expected a time "
        f"after {request.now.isoformat(timespec='seconds')}"
    )


def _idle(run: Mapping[str, Any], world: World) -> tuple[str, ...]:
    """Return a warning when nothing of the run waits for a decision: it would answer nothing."""
    for task in world.of("LabTask"):
        waits = state_of(task) == TaskState.WAITING_FOR_AUTHORIZATION
        if waits and spec_of(task).get("runUid") == uid_of(run):
            return ()
    return ("the run waits for no approval now; what it asks for later takes another one",)


def _time(value: Any) -> datetime | None:
    """Return a time with its zone, or None."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None
