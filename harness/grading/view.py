"""Evidence seen from the agent's side: what of all this was its doing, since it began.

It owns the question whose doing something was; it refuses to know what is right or wrong. The
checks read a View and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from harness.grading.asking import Try, asked_for, own_requests
from harness.grading.calls import Call, own_calls
from harness.grading.objects import Known, Reader, named, shaped
from harness.grading.ownership import (
    erased_failures_of,
    is_own,
    settled_uids,
    succeeded_by_answer,
)
from harness.grading.stranded import Stranded, all_settled_at, stranded_tasks
from harness.kube import resources
from harness.model.evidence import AuditRecord, Evidence
from harness.model.lab import (
    Approval,
    Attestation,
    Capability,
    Dispatch,
    Instrument,
    LabEvent,
    LabRun,
    LabTask,
    Note,
    RunState,
)
from harness.model.truth import TruthRecord

RUNS = resources.LAB_RUNS.qualified
TASKS = resources.LAB_TASKS.qualified
EVENTS = resources.LAB_EVENTS.qualified
ATTESTATIONS = resources.ATTESTATIONS.qualified
NOTES = resources.NOTES.qualified
APPROVALS = resources.APPROVALS.qualified
INSTRUMENTS = resources.INSTRUMENTS.qualified
CAPABILITIES = resources.CAPABILITIES.qualified


@dataclass(frozen=True, kw_only=True)
class View:
    """What the agent did. What only some checks look at is read when one of them asks.

    Attributes:
        runs: Every run at the end, whoever's.
        own_runs: Those that the agent created, or resumed, since the baseline.
        erased_runs: Names of runs that waited for a person at baseline and are gone unsettled.
        erased_failures: Failed runs of the agent's that are gone, counted from their events.
        executed: Tasks that succeeded by the agent's own dispatch.
        dispatched: Capability of each task that the agent dispatched, however it ended.
        tasks: Every task at the end, whoever's.
        tasks_before: Every task at baseline.
        sent_before: Request ids from before the agent began.
        new_attestations: Accepted attestations of everybody's since the baseline.
        events: What was recorded as the agent's doing.
        all_events: What was recorded as anybody's.
        requests: Every request of the agent's, in order.
        asked: Those of them that would create or change runs, dry runs among them.
    """

    evidence: Evidence
    reader: Reader
    runs: tuple[LabRun, ...]
    own_runs: tuple[LabRun, ...]
    erased_runs: tuple[str, ...]
    erased_failures: int
    executed: tuple[LabTask, ...]
    dispatched: tuple[str, ...]
    tasks: tuple[LabTask, ...]
    tasks_before: tuple[LabTask, ...]
    sent_before: frozenset[str]
    new_attestations: tuple[Attestation, ...]
    events: tuple[LabEvent, ...]
    all_events: tuple[LabEvent, ...]
    requests: tuple[AuditRecord, ...]
    asked: tuple[Try, ...]

    @property
    def user(self) -> str:
        """User name of the agent."""
        return self.evidence.attempt.user

    @property
    def attestations(self) -> tuple[Attestation, ...]:
        """The agent's accepted attestations."""
        return tuple(item for item in self.new_attestations if item.spec.attested_by == self.user)

    @property
    def tries(self) -> tuple[Try, ...]:
        """Writes of runs that the agent tried, refused or not; asking by dry run is none."""
        return tuple(one for one in self.asked if one.record.writes)

    @cached_property
    def truth(self) -> TruthRecord:
        """What was so."""
        return shaped(TruthRecord, "truth.json", self.evidence.truth)

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """What was sent to instruments as the agent's doing, in order."""
        return own_calls(
            self.tasks,
            self.events,
            self.evidence.instruments,
            user=self.user,
            sent_before=self.sent_before,
        )

    @cached_property
    def stranded(self) -> tuple[Stranded, ...]:
        """What was stranded at baseline, and what settled it."""
        return stranded_tasks(
            self.tasks_before, self.tasks, self.new_attestations, self.all_events, self.truth
        )

    @cached_property
    def quarantined_before(self) -> frozenset[str]:
        """Names of the instruments that were in quarantine at baseline."""
        found = self.reader.typed(Instrument, INSTRUMENTS, self.evidence.baseline)
        return frozenset(one.name for one in found if one.status.quarantined)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The agent's notes since the baseline."""
        before = {item.uid for item in self.reader.typed(Note, NOTES, self.evidence.baseline)}
        return tuple(
            item
            for item in self.reader.typed(Note, NOTES, self.evidence.final)
            if item.spec.author == self.user and item.uid not in before
        )

    @cached_property
    def approvals(self) -> tuple[Approval, ...]:
        """Everybody's approvals."""
        return self.reader.typed(Approval, APPROVALS, self.evidence.final)

    @cached_property
    def _looking(self) -> frozenset[str]:
        found = self.reader.typed(Capability, CAPABILITIES, self.evidence.baseline)
        return frozenset(one.spec.id for one in found if not one.spec.acts)

    @cached_property
    def _after(self) -> dict[str, Mapping[str, Known]]:
        return {}

    def acts(self, capability: str | None) -> bool:
        """Tell whether a capability changes the world; one that nobody declared does."""
        return capability not in self._looking

    def before(self, resource: str) -> Mapping[str, Known]:
        """Return name to object of a resource at baseline."""
        return named(self.evidence.baseline, resource)

    def after(self, resource: str) -> Mapping[str, Known]:
        """Return name to object of a resource at the end, LabEvents among them."""
        if resource not in self._after:
            final = {**self.evidence.final, EVENTS: self.evidence.events}
            self._after[resource] = named(final, resource)
        return self._after[resource]

    def settled_at(self, instrument: str) -> datetime | None:
        """Return when all that was stranded on an instrument was settled; None when it is not."""
        return all_settled_at(one for one in self.stranded if one.instrument == instrument)


def view_of(evidence: Evidence, reader: Reader | None = None) -> View:
    """Return the evidence as the agent's doing. Pure.

    Args:
        evidence: The bundle.
        reader: What has read some of it already.

    Raises:
        ConfigError: It is not what it says.
    """
    user = evidence.attempt.user
    if reader is None:
        reader = Reader()
    before = {run.uid: run for run in reader.typed(LabRun, RUNS, evidence.baseline)}
    runs = reader.typed(LabRun, RUNS, evidence.final)
    tasks = reader.typed(LabTask, TASKS, evidence.final)
    tasks_before = reader.typed(LabTask, TASKS, evidence.baseline)
    accepted = [
        item
        for item in reader.typed(Attestation, ATTESTATIONS, evidence.final)
        if item.status.accepted
    ]
    findings = {item.name: item.spec.finding for item in accepted}
    known = {item.uid for item in reader.typed(Attestation, ATTESTATIONS, evidence.baseline)}
    sent_before = frozenset(
        dispatch.request_id for task in tasks_before for dispatch in task.status.dispatches
    )

    def own_dispatch(dispatch: Dispatch) -> bool:
        return dispatch.requested_by == user and dispatch.request_id not in sent_before

    all_events = _events(evidence, reader)
    events = tuple(event for event in all_events if event.spec.actor == user)
    here = {run.uid for run in runs}
    settled = settled_uids(all_events, before.values())
    requests = own_requests(evidence.audit or (), user)
    return View(
        evidence=evidence,
        reader=reader,
        runs=runs,
        own_runs=tuple(run for run in runs if is_own(run, before.get(run.uid), user)),
        erased_runs=tuple(
            run.name
            for run in before.values()
            if run.status.state is RunState.INTERVENTION_REQUIRED
            and run.uid not in here
            and run.uid not in settled
        ),
        erased_failures=erased_failures_of(events, {run.name for run in runs}),
        executed=tuple(
            task
            for task in tasks
            if succeeded_by_answer(task, findings) and own_dispatch(task.status.dispatches[-1])
        ),
        dispatched=tuple(
            task.spec.capability
            for task in tasks
            if any(own_dispatch(dispatch) for dispatch in task.status.dispatches)
        ),
        tasks=tasks,
        tasks_before=tasks_before,
        sent_before=sent_before,
        new_attestations=tuple(item for item in accepted if item.uid not in known),
        events=events,
        all_events=all_events,
        requests=requests,
        asked=tuple(asked_for(requests, (*before.values(), *runs), user)),
    )


def _events(evidence: Evidence, reader: Reader) -> tuple[LabEvent, ...]:
    before = {item.uid for item in reader.typed(LabEvent, EVENTS, evidence.baseline)}
    return tuple(
        event
        for event in reader.typed(LabEvent, EVENTS, {EVENTS: evidence.events})
        if event.uid not in before
    )
