"""The one decision of the webhook: which module speaks, and what it must be shown.

Pure: no clock, no counter, no state. The server reads the kinds of `kinds_needed` from the
request's namespace and calls `decide`; what is malformed is refused, and nothing raises.
"""

from __future__ import annotations

from harness.lab.admission import attestations, deletion, runs
from harness.lab.admission.request import ALLOWED, Decision, Path, Request, World, spec_of
from harness.lab.admission.stamps import stamp


def kinds_needed(request: Request) -> tuple[str, ...]:
    """Return the kinds whose objects the decision looks at. Pure."""
    if request.path is Path.MUTATE:
        return ()
    match request.kind, request.operation:
        case "LabRun", "CREATE":
            return ("Capability", "LabPolicy", "LabRun")
        case "LabRun", "UPDATE":
            new, old = spec_of(request.new), spec_of(request.old)
            return ("LabTask",) if new.get("resumeCount") != old.get("resumeCount") else ()
        case "LabRun", "DELETE":
            # A sweep deletes thousands: nothing is read for what is not judged.
            return () if deletion.may_empty(request) else ("LabTask", "LabEvent")
        case "Attestation", "CREATE":
            return ("LabTask",)
        case _:
            return ()


def decide(request: Request, world: World) -> Decision:
    """Return what is said to a request. Pure."""
    if request.path is Path.MUTATE:
        return stamp(request)
    match request.kind, request.operation:
        case "LabRun", "CREATE":
            return runs.decide_create(request, world)
        case "LabRun", "UPDATE":
            return runs.decide_update(request, world)
        case "LabRun", "DELETE":
            return deletion.decide_delete(request, world)
        case "Attestation", "CREATE":
            return attestations.decide_create(request, world)
        case _:
            return ALLOWED
