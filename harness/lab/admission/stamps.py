"""The mutating side: who did it, written by the webhook and by nobody else.

Pure. A stamp is set by the request that earns it, over any value of the caller's, and put back from
the stored object on every other one, so that a file without stamps can be replaced or applied
again. A status that a caller sends at creation is refused here: the API server drops it without a
word, and only this webhook ever sees it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.lab.admission.request import (
    ALLOWED,
    Decision,
    Request,
    World,
    forbidden,
    spec_of,
    uid_of,
)

#: Kind to the status that the schema's defaults give. A caller who sends exactly that asks for
#: nothing.
_DEFAULT_STATUS: Mapping[str, Mapping[str, Any]] = {
    "Instrument": {"heldBy": "", "quarantined": False, "fencingToken": 0},
    "LabRun": {
        "state": "planned",
        "reason": "",
        "message": "",
        "observedGeneration": 0,
        "observedResumeCount": 0,
        "observedCancelRequested": False,
        "history": [],
        "conditions": [],
    },
    "LabTask": {
        "state": "pending",
        "reason": "",
        "message": "",
        "attestation": "",
        "outputs": {},
        "dispatches": [],
        "history": [],
    },
    "Attestation": {"reason": ""},
}


def stamp(request: Request, world: World) -> Decision:
    """Return the patch that sets or restores the stamps, or a refusal of a sent status. Pure."""
    if request.operation == "CREATE":
        sent = _sent_status(request)
        if sent:
            return forbidden(
                f"status of {request.kind} {request.name!r} is not the caller's: "
                f"{', '.join(sent)} sent at creation; only the controller writes status, "
                "leave it out"
            )
    stamps = _stamps(request, world)
    spec = request.new.get("spec")
    if not isinstance(spec, dict):
        return ALLOWED  # the schema refuses it right after, with the better message
    patch = tuple(
        {"op": "add", "path": f"/spec/{name}", "value": value}
        for name, value in stamps.items()
        if spec.get(name) != value
    )
    return Decision(allowed=True, patch=patch)


def _stamps(request: Request, world: World) -> Mapping[str, str]:
    match request.kind, request.operation:
        case "LabRun", "CREATE" | "UPDATE":
            return _run_stamps(request)
        case "Attestation", "CREATE" | "UPDATE":
            return _attestation_stamps(request)
        case "Note", "CREATE":
            return {"author": request.user}
        case "Approval", "CREATE":
            run = world.find("LabRun", str(spec_of(request.new).get("run")))
            return {
                "approvedBy": request.user,
                "runUid": uid_of(run) if run else "",
                "decidedAt": request.now.isoformat(),
            }
        case _:
            return {}


def _sent_status(request: Request) -> list[str]:
    status = request.new.get("status")
    if status is None:
        return []
    if not isinstance(status, dict):
        return ["status"]
    default = _DEFAULT_STATUS.get(request.kind, {})
    return sorted(name for name, value in status.items() if value != default.get(name))


def _run_stamps(request: Request) -> dict[str, str]:
    new, old = spec_of(request.new), spec_of(request.old)
    if request.operation == "CREATE":
        return {"operator": request.user, "cancelRequestedBy": "", "resumedBy": ""}
    cancels = new.get("cancelRequested") is True and old.get("cancelRequested") is not True
    resumes = _count(new) > _count(old)
    return {
        "operator": str(old.get("operator", "")),
        "cancelRequestedBy": request.user if cancels else str(old.get("cancelRequestedBy", "")),
        "resumedBy": request.user if resumes else str(old.get("resumedBy", "")),
    }


def _attestation_stamps(request: Request) -> dict[str, str]:
    if request.operation == "CREATE":
        return {"attestedBy": request.user}
    return {"attestedBy": str(spec_of(request.old).get("attestedBy", ""))}


def _count(spec: Mapping[str, Any]) -> int:
    count = spec.get("resumeCount", 0)
    return count if isinstance(count, int) else 0
