"""What became of a call in flight: answered, refused, lost, timed out, or not ours to know.

Pure. An answer that came while it was waited for always counts first; then what is known not to
have happened; then what nobody can know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from harness.lab.reconcile.actions import WriteStatus, move_task
from harness.lab.reconcile.observed import Observed, last_dispatch
from harness.model.lab import Dispatch, LabRun, LabTask, Reason, TaskState

IN_FLIGHT = frozenset({TaskState.RUNNING, TaskState.RETRYING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The state that a task should enter, and why.

    Attributes:
        records: Request id whose answer it is, or empty.
        more: Further fields of the task's status.
    """

    state: TaskState
    reason: str = ""
    message: str = ""
    by: str = ""
    records: str = ""
    more: tuple[tuple[str, Any], ...] = ()

    def write(self, task: LabTask, run: LabRun, now: datetime) -> WriteStatus:
        """Return the write that puts it on record."""
        return move_task(
            task,
            self.state,
            run=run,
            now=now,
            reason=self.reason,
            message=self.message,
            by=self.by,
            records=self.records,
            **dict(self.more),
        )


def outcome_of(observed: Observed, run: LabRun, task: LabTask, now: datetime) -> Outcome | None:
    """Return what became of the call in flight; None while there is nothing to say. Pure."""
    call = last_dispatch(task)
    if call is None or task.status.state not in IN_FLIGHT:
        return None
    waiting = task.status.state is TaskState.RUNNING
    known = _known(observed, run, task, call) if waiting else None
    if known is not None:
        return known
    if call.request_id not in observed.facts.sent:
        return _not_ours(observed, run, task, call)
    silence = _silence(observed, run, task, call, now) if waiting else None
    return _unknown(observed, run, task, silence) if silence is not None else None


def cancelled_outcome(observed: Observed, run: LabRun, task: LabTask) -> Outcome:
    """Return what becomes of a call whose wait is dropped. Pure."""
    by = run.spec.cancel_requested_by
    call = last_dispatch(task)
    if observed.promise(run, task).acts and call is not None:
        return Outcome(
            state=TaskState.INTERVENTION_REQUIRED,
            reason=Reason.EXECUTION_CANCELLED,
            message=f"the wait for call {call.n} to instrument {call.instrument} was dropped; "
            "whether it was carried out is not known",
            by=by,
        )
    return Outcome(
        state=TaskState.CANCELLED,
        reason=Reason.EXECUTION_CANCELLED,
        message="the wait was dropped; the call only observes",
        by=by,
    )


def deadline(observed: Observed, run: LabRun, task: LabTask, call: Dispatch) -> datetime:
    """Return when the wait for a call ends. Pure."""
    return call.sent_at + timedelta(seconds=observed.promise(run, task).timeout_s)


def _known(observed: Observed, run: LabRun, task: LabTask, call: Dispatch) -> Outcome | None:
    refusal = observed.facts.refused.get(call.request_id)
    if refusal is None:
        return _answered(observed, run, task, call)
    return Outcome(
        state=TaskState.FAILED,
        reason=Reason.INSTRUMENT_REFUSED,
        message=f"instrument {call.instrument}: {refusal}",
        by=call.requested_by,
    )


def _silence(
    observed: Observed, run: LabRun, task: LabTask, call: Dispatch, now: datetime
) -> tuple[Reason, str] | None:
    """Return why nothing is known of a call that should be, or None while one may wait."""
    lost = observed.facts.lost.get(call.request_id)
    if lost is not None:
        return Reason.TASK_OUTCOME_UNKNOWN, f"instrument {call.instrument}: {lost}"
    if now < deadline(observed, run, task, call):
        return None
    timeout_s = observed.promise(run, task).timeout_s
    message = f"instrument {call.instrument}: no answer within {timeout_s:g} s"
    return Reason.EXECUTION_TIMED_OUT, message


def _answered(observed: Observed, run: LabRun, task: LabTask, call: Dispatch) -> Outcome | None:
    answer = observed.facts.answers.get(call.request_id)
    if answer is None:
        return None
    answered = call.model_copy(update={"answered_at": answer.at})
    dispatches = (*task.status.dispatches[:-1], answered)
    if not answer.error:
        return Outcome(
            state=TaskState.SUCCEEDED,
            by=call.requested_by,
            records=call.request_id,
            more=(("dispatches", dispatches), ("outputs", dict(answer.outputs))),
        )
    message = f"instrument {call.instrument}: {answer.error}"
    failed = _repeat_or_fail(observed, run, task, Reason.INSTRUMENT_ERROR, message)
    return replace(
        failed, by=call.requested_by, records=call.request_id, more=(("dispatches", dispatches),)
    )


def _not_ours(observed: Observed, run: LabRun, task: LabTask, call: Dispatch) -> Outcome:
    repeatable = observed.promise(run, task).repeatable
    return Outcome(
        state=TaskState.FAILED if repeatable else TaskState.INTERVENTION_REQUIRED,
        reason=Reason.CONTROLLER_RESTARTED,
        message=f"call {call.n} to instrument {call.instrument} was in flight when the controller "
        "went away; whether it was carried out is not known",
        by=observed.controller,
    )


def _unknown(
    observed: Observed, run: LabRun, task: LabTask, silence: tuple[Reason, str]
) -> Outcome:
    reason, message = silence
    by = task.status.dispatches[-1].requested_by
    if observed.promise(run, task).repeatable:
        return replace(_repeat_or_fail(observed, run, task, reason, message), by=by)
    return Outcome(
        state=TaskState.INTERVENTION_REQUIRED,
        reason=reason,
        message=f"{message}; whether it was carried out is not known",
        by=by,
    )


def _repeat_or_fail(
    observed: Observed, run: LabRun, task: LabTask, reason: Reason, message: str
) -> Outcome:
    promise = observed.promise(run, task)
    count = run.status.observed_resume_count
    calls = sum(1 for call in task.status.dispatches if call.round == count)
    again = promise.repeatable and calls <= promise.max_retries
    return Outcome(
        state=TaskState.RETRYING if again else TaskState.FAILED, reason=reason, message=message
    )
