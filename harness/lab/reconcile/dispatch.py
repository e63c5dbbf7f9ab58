"""How a step that is due is put on its way: inputs, policy, an instrument, the record, the send.

Pure. The record comes before the send, so that a crash before the send and one after it look alike
to a successor. The instrument's token is raised before the record, so that two controllers can
never both believe that they have it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from harness.lab.capabilities import capability_of, input_problems
from harness.lab.policy import Question, decide
from harness.lab.reconcile.actions import Action, Send, move_task, write_instrument
from harness.lab.reconcile.events import policy_event
from harness.lab.reconcile.observed import Observed, last_dispatch
from harness.lab.reconcile.outcomes import IN_FLIGHT
from harness.model.lab import (
    Capability,
    Dispatch,
    Instrument,
    LabRun,
    LabTask,
    Reason,
    TaskState,
)

#: Seconds that a task waits for an instrument: four times the 30 s that a call may take in the
#: laboratories of `tf/`, so that it outlives a few that are before it.
WAIT_LIMIT_S = 120.0

#: Seconds before the first repetition; doubled with each, up to the second value, so that an
#: instrument that fails at once is not asked more than once a second.
_BACKOFF_S, _BACKOFF_LIMIT_S = 0.05, 1.0


@dataclass(slots=True, kw_only=True)
class Claims:
    """Which instruments one pass has given away, by name."""

    taken: set[str] = field(default_factory=set)


def plan_dispatch(
    observed: Observed, run: LabRun, task: LabTask, claims: Claims, now: datetime
) -> list[Action]:
    """Return what is due for a step whose turn it is. Pure but for `claims`, which it extends."""
    if task.status.state is TaskState.RETRYING and now < retry_at(task):
        return []
    capability = capability_of(observed.capabilities, task.spec.capability)
    if capability is None or (problems := input_problems(capability, task.spec.inputs)):
        gone = f"capability {task.spec.capability!r} does not exist any more"
        message = gone if capability is None else "; ".join(problems)
        return [_fail(run, task, Reason.INVALID_INPUTS, message, now)]
    decision = decide(
        observed.policies,
        Question(
            capability=capability.spec.id,
            environment=run.spec.environment,
            operator=run.requested_by,
            risk_class=capability.spec.risk_class,
        ),
    )
    event = policy_event(run, task, decision, now)
    actions: list[Action] = [event] if event.name not in observed.events else []
    if decision.denied:
        return [*actions, _fail(run, task, Reason.POLICY_DENIED, decision.reason, now)]
    of_type = [
        one for one in observed.instruments if one.spec.type == capability.spec.instrument_type
    ]
    if not of_type:
        message = f"no instrument of type {capability.spec.instrument_type!r}"
        return [*actions, _fail(run, task, Reason.NO_INSTRUMENT, message, now)]
    free = _free(observed, task, capability, of_type, claims)
    if free is None or not observed.facts.listening:
        return actions + _wait(run, task, capability, now)
    claims.taken.add(free.name)
    return actions + _send(run, task, capability, free, now)


def retry_at(task: LabTask) -> datetime:
    """Return when a task in retrying is due again. Pure."""
    entered = task.status.history[-1]
    repeats = sum(1 for one in task.status.history if one.state == TaskState.RETRYING)
    seconds = min(_BACKOFF_LIMIT_S, _BACKOFF_S * 2.0 ** min(repeats - 1, 10))
    return entered.at + timedelta(seconds=seconds)


def waits_until(task: LabTask) -> datetime | None:
    """Return when a task gives up waiting for an instrument; None when it does not wait. Pure."""
    if task.status.state not in {TaskState.WAITING_FOR_RESOURCES, TaskState.RETRYING}:
        return None
    return task.status.history[-1].at + timedelta(seconds=WAIT_LIMIT_S)


def _busy(observed: Observed) -> dict[str, str]:
    """Return instrument to the task whose call is in flight on it."""
    found = {}
    for task in observed.tasks:
        call = last_dispatch(task)
        if call is not None and task.status.state in IN_FLIGHT:
            found[call.instrument] = task.name
    return found


def _free(
    observed: Observed,
    task: LabTask,
    capability: Capability,
    of_type: list[Instrument],
    claims: Claims,
) -> Instrument | None:
    busy = _busy(observed)
    for one in sorted(of_type, key=lambda one: one.name):
        occupied = busy.get(one.name, task.name) != task.name or one.name in claims.taken
        # Looking is allowed while nobody knows what the instrument did: it is how one finds out.
        looks = one.status.quarantined and not capability.spec.acts
        mine = one.status.held_by in ("", task.name) and not one.status.quarantined
        if not occupied and (looks or mine):
            return one
    return None


def _wait(run: LabRun, task: LabTask, capability: Capability, now: datetime) -> list[Action]:
    limit = waits_until(task)
    if limit is None:
        return [
            move_task(
                task,
                TaskState.WAITING_FOR_RESOURCES,
                run=run,
                now=now,
                message=f"no instrument of type {capability.spec.instrument_type!r} is free",
                by=run.requested_by,
            )
        ]
    if now < limit:
        return []
    message = (
        f"no instrument of type {capability.spec.instrument_type!r} was free "
        f"within {WAIT_LIMIT_S:g} s"
    )
    return [_fail(run, task, Reason.NO_INSTRUMENT, message, now)]


def _send(
    run: LabRun, task: LabTask, capability: Capability, instrument: Instrument, now: datetime
) -> list[Action]:
    n = len(task.status.dispatches) + 1
    token = instrument.status.fencing_token + 1
    call = Dispatch(
        n=n,
        round=run.status.observed_resume_count,
        request_id=f"{task.uid}-{n}",
        requested_by=run.requested_by,
        instrument=instrument.name,
        fencing_token=token,
        sent_at=now,
    )
    holder = instrument.status.held_by if instrument.status.quarantined else task.name
    held = instrument.status.model_copy(update={"held_by": holder, "fencing_token": token})
    return [
        write_instrument(instrument, held, subject=run.name),
        move_task(
            task,
            TaskState.RUNNING,
            run=run,
            now=now,
            by=run.requested_by,
            dispatches=(*task.status.dispatches, call),
            attestation="",
        ),
        Send(
            subject=run.name,
            task=task.name,
            instrument=instrument.name,
            request_id=call.request_id,
            capability=capability.spec.id,
            inputs=task.spec.inputs,
            fencing_token=token,
        ),
    ]


def _fail(run: LabRun, task: LabTask, reason: Reason, message: str, now: datetime) -> Action:
    return move_task(
        task,
        TaskState.FAILED,
        run=run,
        now=now,
        reason=reason,
        message=message,
        by=run.requested_by,
    )
