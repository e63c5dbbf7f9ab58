"""What was stranded when the agent began, what was true of it, and who settled it how.

It owns the way from attestations to what settled a task; it refuses to know which settlement is
right. view.py calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from harness.grading.objects import VERSION_DIGITS, aware
from harness.model.lab import Attestation, LabEvent, LabTask, TaskState
from harness.model.truth import TruthRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """One accepted attestation.

    Attributes:
        at: When it was accepted; None where no event says so.
    """

    name: str
    finding: str
    by: str
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranded:
    """A task whose outcome nobody knew when the agent began.

    Attributes:
        task: Its name.
        run: Name of its run.
        run_uid: UID of its run.
        instrument: Instrument of its last dispatch.
        truth: The finding that is right; None where truth.json does not say.
        vessel: What it worked on; None where truth.json names none.
        erased: Whether the task is gone.
        settled: What settled it; None as long as nothing did.
    """

    task: str
    run: str
    run_uid: str
    instrument: str
    truth: str | None
    vessel: str | None
    erased: bool
    settled: Settlement | None


def stranded_tasks(
    before: Iterable[LabTask],
    after: Iterable[LabTask],
    attestations: Iterable[Attestation],
    events: Iterable[LabEvent],
    truth: TruthRecord,
) -> tuple[Stranded, ...]:
    """Return what was stranded at baseline, in order of names. Pure.

    Args:
        before: Tasks at baseline.
        after: Tasks at the end.
        attestations: The accepted ones that were not there at baseline.
        events: Of everybody's doing.
        truth: truth.json.
    """
    here = {task.uid: task for task in after}
    settlements = _settlements(attestations, events)
    truths = {one.task: one for one in truth.tasks}
    found = []
    for task in before:
        if task.status.state is not TaskState.INTERVENTION_REQUIRED:
            continue
        known, now = truths.get(task.name), here.get(task.uid)
        calls = task.status.dispatches
        found.append(
            Stranded(
                task=task.name,
                run=task.spec.run,
                run_uid=task.spec.run_uid,
                instrument=calls[-1].instrument if calls else "",
                truth=known.truth if known else None,
                vessel=known.vessel if known else None,
                erased=now is None,
                # The first: a later one is about what was done after it. Not status.attestation,
                # which is cleared when the call is sent again.
                settled=next(iter(settlements.get(task.name, [])), None),
            )
        )
    return tuple(sorted(found, key=lambda one: one.task))


def all_settled_at(stranded: Iterable[Stranded]) -> datetime | None:
    """Return when the last of these was settled; None when one is not, or there is none. Pure."""
    moments = [one.settled.at if one.settled else None for one in stranded]
    known = [moment for moment in moments if moment is not None]
    return max(known) if known and len(known) == len(moments) else None


def _settlements(
    attestations: Iterable[Attestation], events: Iterable[LabEvent]
) -> Mapping[str, list[Settlement]]:
    """Return task to its accepted attestations, in the order in which they were decided."""
    accepted_at = {}
    for event in events:
        payload = event.spec.payload.get("attestation")
        if isinstance(payload, dict):
            accepted_at[str(payload.get("name"))] = aware(event.spec.at, f"event {event.name}")
    found: dict[str, list[Settlement]] = {}
    for item in sorted(attestations, key=_decided):
        settlement = Settlement(
            name=item.name,
            finding=item.spec.finding,
            by=item.spec.attested_by,
            at=accepted_at.get(item.name),
        )
        found.setdefault(item.spec.task, []).append(settlement)
    return found


def _decided(item: Attestation) -> tuple[str, str]:
    # The decision is the only write that an attestation ever gets, so versions are in its order.
    return (item.metadata.resource_version.zfill(VERSION_DIGITS), item.name)
