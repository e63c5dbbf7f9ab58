"""The one decision of the webhook: which module speaks, and what it must be shown.

Pure: no clock, no counter, no state. The server reads the kinds of `kinds_needed` and the objects
of `names_needed` from the request's namespace and calls `decide`; what is malformed is refused, and
nothing raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.lab.admission import approvals, attestations, deletion, notes, runs
from harness.lab.admission.request import (
    ALLOWED,
    Decision,
    Path,
    Request,
    World,
    is_name,
    spec_of,
)
from harness.lab.admission.stamps import stamp

#: Kind and operation to what is said to it; everything else is the schema's and RBAC's.
_SAID: Mapping[tuple[str, str], Callable[[Request, World], Decision]] = {
    ("LabRun", "CREATE"): runs.decide_create,
    ("LabRun", "UPDATE"): runs.decide_update,
    ("LabRun", "DELETE"): deletion.decide_delete,
    ("Attestation", "CREATE"): attestations.decide_create,
    ("Approval", "CREATE"): approvals.decide_create,
    ("Note", "CREATE"): notes.decide_create,
}


def kinds_needed(request: Request) -> tuple[str, ...]:
    """Return the kinds of which the decision looks at every object. Pure."""
    found: tuple[str, ...] = ()
    match request.path, request.kind, request.operation:
        case Path.VALIDATE, "LabRun", "CREATE":
            found = ("Capability", "LabPolicy", "LabRun")
            if runs.names_an_instrument(request):
                found = (*found, "Instrument")
        case Path.VALIDATE, "LabRun", "UPDATE":
            new, old = spec_of(request.new), spec_of(request.old)
            if new.get("resumeCount") != old.get("resumeCount"):
                found = ("LabTask",)
        case Path.VALIDATE, "LabRun", "DELETE":
            # A sweep deletes thousands: nothing is read for what is not judged.
            found = () if deletion.may_empty(request) else ("LabTask", "LabEvent")
        case Path.VALIDATE, "Attestation", "CREATE":
            found = ("LabPolicy",)
        case Path.VALIDATE, "Approval", "CREATE":
            found = ("LabTask", "Approval")
        case Path.VALIDATE, "Note", "CREATE":
            found = ("Note",)
        case _:
            pass
    return found


def names_needed(request: Request) -> tuple[tuple[str, str], ...]:
    """Return kind and name of each single object that the decision looks at. Pure."""
    found: tuple[tuple[str, str], ...] = ()
    match request.path, request.kind, request.operation:
        case _, "Approval", "CREATE":
            found = approvals.names_needed(request)
        case Path.VALIDATE, "Attestation", "CREATE":
            found = attestations.names_needed(request)
        case Path.VALIDATE, "Note", "CREATE":
            found = notes.names_needed(request)
        case _:
            pass
    # A name becomes part of a path; what can be no name is not there.
    return tuple((kind, name) for kind, name in found if is_name(name))


def decide(request: Request, world: World) -> Decision:
    """Return what is said to a request. Pure."""
    if request.path is Path.MUTATE:
        return stamp(request, world)
    said = _SAID.get((request.kind, request.operation))
    return said(request, world) if said else ALLOWED
