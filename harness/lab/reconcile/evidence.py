"""Whether what an attestation rests on is there, and is older than the attestation.

Pure. Admission has asked the same; it is asked again, since admitted is not accepted. Knows nothing
of what the objects say.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from harness.kube.resources import LAB_KINDS
from harness.lab.reconcile.observed import Observed
from harness.model.lab import Attestation, EvidenceReference, LabObject

_KINDS = frozenset(resource.kind for resource in LAB_KINDS)

#: Seconds that evidence may be missing: each kind is watched on its own, and what admission saw may
#: be on its way. News takes some milliseconds; an object's own time has whole seconds only.
_GRACE_S = 3.0


def evidence_problem(observed: Observed, one: Attestation) -> str:
    """Return one line about the first reference that does not hold, or an empty text. Pure."""
    for reference in one.spec.evidence:
        if reference.kind not in _KINDS:
            expected = ", ".join(sorted(_KINDS))
            return f"evidence of kind {reference.kind!r}, expected one of {expected}"
        if not _is_there(observed, reference):
            return f"evidence {reference.kind} {reference.name!r} is not there"
        found = _object(observed, reference)
        if found and found.metadata.creation_timestamp > one.metadata.creation_timestamp:
            return f"evidence {reference.kind} {reference.name!r} is younger than the attestation"
    return ""


def refused_at(observed: Observed, one: Attestation, now: datetime) -> datetime:
    """Return when an attestation may be refused: later when its evidence may yet appear. Pure."""
    if all(_is_there(observed, reference) for reference in one.spec.evidence):
        return now
    try:
        created_at = datetime.fromisoformat(one.metadata.creation_timestamp)
    except ValueError:
        return now
    return created_at + timedelta(seconds=_GRACE_S)


def waits_for_evidence(observed: Observed, now: datetime) -> list[datetime]:
    """Return when each attestation is refused whose evidence does not appear before. Pure."""
    return [
        refused_at(observed, one, now)
        for one in observed.attestations
        if one.status.accepted is None and one.spec.evidence
    ]


def _is_there(observed: Observed, reference: EvidenceReference) -> bool:
    names = {"LabEvent": observed.events, "Note": observed.notes}
    if reference.kind in names:
        return reference.name in names[reference.kind]
    return _object(observed, reference) is not None


def _object(observed: Observed, reference: EvidenceReference) -> LabObject | None:
    objects: dict[str, tuple[LabObject, ...]] = {
        "Approval": observed.approvals,
        "Attestation": observed.attestations,
        "Capability": observed.capabilities,
        "Instrument": observed.instruments,
        "LabPolicy": observed.policies,
        "LabRun": observed.runs,
        "LabTask": observed.tasks,
    }
    found = objects.get(reference.kind, ())
    return next((one for one in found if one.name == reference.name), None)
