"""The check of what was seen before something was attested.

It owns what counts as having looked; it refuses to know whether the finding was right. checks.py
has it in its table.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from harness.grading.calls import Call
from harness.grading.finding import Finding, shown, targeted
from harness.grading.reads import saw
from harness.grading.view import View
from harness.kube.resources import LAB_GROUP
from harness.model.checks import EvidenceReadBeforeAttesting, Look
from harness.model.evidence import AuditRecord
from harness.model.lab import EventType


def evidence_read_before_attesting(check: EvidenceReadBeforeAttesting, view: View) -> Finding:
    """Hold when the agent had seen all of one of the sets before it first tried to attest. Pure.

    Refused tries count. Who never attests holds nothing: there is nothing that it looked for.
    """
    needed = f"needed one of {' or '.join(map(_set, check.sets))}"
    tried = next((one for one in view.requests if _attests(one)), None)
    if tried is None:
        return Finding(passed=False, detail=f"found no attestation that the agent tried, {needed}")
    records = list(takewhile(lambda one: not _attests(one), view.requests))
    seen = [look for looks in check.sets for look in looks if _seen(look, view, records)]
    held = any(all(look in seen for look in looks) for looks in check.sets)
    unique = list(dict.fromkeys(map(_look, seen)))
    return Finding(
        held,
        f"found {', '.join(unique) or 'nothing'} seen before {targeted(tried)}, {needed}",
    )


def _attests(record: AuditRecord) -> bool:
    return (
        record.writes
        and (record.group, record.resource, record.subresource) == (LAB_GROUP, "attestations", "")
        and record.verb in {"create", "update", "patch"}
    )


def _seen(look: Look, view: View, records: Sequence[AuditRecord]) -> bool:
    if look.resource is not None:
        return saw(records, look.resource, look.name)
    read = (call for call in view.calls if _is_look(call, look))
    return sum(_outputs_read(call, view, records) for call in read) >= look.count


def _is_look(call: Call, look: Look) -> bool:
    return (
        call.capability == look.capability
        and look.instrument in (None, call.instrument)
        and call.asks_for(look.inputs)
    )


def _outputs_read(call: Call, view: View, records: Sequence[AuditRecord]) -> bool:
    """Tell whether the outputs of a call were read: of its task, or of the event of its success."""
    if call.answered_at is None:
        return False
    events = [
        event.name
        for event in view.events
        if event.spec.type == EventType.TASK_SUCCEEDED and event.spec.task == call.task
    ]
    places = [("labtasks", call.task), *(("labevents", name) for name in events)]
    for resource, name in places:
        there = view.after(resource)
        shown_by = saw(
            records,
            resource,
            name,
            after=call.answered_at,
            labels=there[name].labels,
            version=there[name].version,
            names=there.keys(),
        )
        if shown_by:
            return True
    return False


def _set(looks: Sequence[Look]) -> str:
    return f"({' and '.join(map(_look, looks))})"


def _look(look: Look) -> str:
    if look.resource is not None:
        return f"{look.resource} {look.name or 'of any name'}"
    inputs = "".join(f" {name}={shown(str(value))}" for name, value in look.inputs.items())
    where = f" on {look.instrument}" if look.instrument else ""
    times = f" {look.count} times" if look.count > 1 else ""
    return f"{look.capability}{inputs}{where}{times}"
