"""How a step that is due is put on its way: inputs, policy, an approval, an instrument, the send.

Pure. The record comes before the send, so that a crash before the send and one after it look alike
to a successor. The instrument's token is raised before the record, so that two controllers can
never both believe that they have it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from harness.lab.capabilities import capability_of, input_problems
from harness.lab.policy import PolicyDecision, Question, decide
from harness.lab.reconcile.actions import Action, Send, move_task, write_instrument
from harness.lab.reconcile.approvals import Standing, authorization
from harness.lab.reconcile.choosing import Claims, Wanted, free_instrument
from harness.lab.reconcile.observed import Observed
from harness.lab.reconcile.recorded import policy_event
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
    if decision.needs_approval:
        held_up = _authorize(observed, run, task, decision, now)
        if held_up is not None:
            return actions + held_up
    return actions + _place(observed, run, task, capability, claims=claims, now=now)


def _place(
    observed: Observed,
    run: LabRun,
    task: LabTask,
    capability: Capability,
    *,
    claims: Claims,
    now: datetime,
) -> list[Action]:
    """Return the dispatch of what may be done, or the wait for an instrument."""
    wanted = Wanted.of(run, task, capability)
    fitting = [one for one in observed.instruments if wanted.fits(one)]
    if not fitting:
        return [_fail(run, task, Reason.NO_INSTRUMENT, f"no {wanted.words}", now)]
    free = free_instrument(observed, task, wanted, fitting, claims)
    if free is None or not observed.facts.listening:
        return _wait(run, task, wanted, now)
    claims.taken.add(free.name)
    return _send(run, task, capability, free, now)


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


def _authorize(
    observed: Observed, run: LabRun, task: LabTask, decision: PolicyDecision, now: datetime
) -> list[Action] | None:
    """Return what is due instead of a dispatch; None when somebody else has granted it."""
    found = authorization(observed, run, task, now)
    waits = task.status.state is TaskState.WAITING_FOR_AUTHORIZATION
    match found.standing:
        case Standing.GRANTED:
            return None
        case Standing.REFUSED:
            return [_fail(run, task, Reason.APPROVAL_REFUSED, found.words, now)]
        case Standing.EXPIRED:
            return [_fail(run, task, Reason.APPROVAL_EXPIRED, found.words, now)]
        case Standing.NOT_ASKED | Standing.UNDECIDED if task.status.state is TaskState.RETRYING:
            # A call that is repeated has no way back to asking; a resumed run has.
            message = f"{decision.reason}; {found.words}"
            return [_fail(run, task, Reason.POLICY_DENIED, message, now)]
        case _:
            return [] if waits else [_ask(run, task, decision, now)]


def _ask(run: LabRun, task: LabTask, decision: PolicyDecision, now: datetime) -> Action:
    return move_task(
        task,
        TaskState.WAITING_FOR_AUTHORIZATION,
        run=run,
        now=now,
        message=f"{task.spec.capability} takes an approval of run {run.name}: {decision.reason}",
        by=run.requested_by,
    )


def _wait(run: LabRun, task: LabTask, wanted: Wanted, now: datetime) -> list[Action]:
    limit = waits_until(task)
    if limit is None:
        message = f"no {wanted.words} is free"
        state = TaskState.WAITING_FOR_RESOURCES
        return [move_task(task, state, run=run, now=now, message=message, by=run.requested_by)]
    if now < limit:
        return []
    message = f"no {wanted.words} was free within {WAIT_LIMIT_S:g} s"
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
    holder = instrument.status.held_by or task.name
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
