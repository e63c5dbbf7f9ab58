"""How a run ends, or stops short of an end: cancelled, aborted, failed, or of unknown outcome.

Pure. Unknown wins over failed, and a run is ended only once nothing of it is in flight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from harness.lab.reconcile.actions import Action, move_run, move_task
from harness.lab.reconcile.observed import Observed, last_round
from harness.lab.reconcile.outcomes import IN_FLIGHT, Outcome, cancelled_outcome, outcome_of
from harness.model.lab import LabRun, LabTask, Reason, RunState, TaskState

#: States of a task that has not been sent anywhere.
UNSENT = frozenset(
    {TaskState.PENDING, TaskState.WAITING_FOR_RESOURCES, TaskState.WAITING_FOR_AUTHORIZATION}
)

#: States of a task that waits for its turn, and has no call in flight.
_HALTED = frozenset(
    {TaskState.WAITING_FOR_RESOURCES, TaskState.WAITING_FOR_AUTHORIZATION, TaskState.RETRYING}
)

#: Those of them that a cancellation ends; one that is repeated has its own way.
_WAITING = _HALTED - {TaskState.RETRYING}


def outcomes_of(
    observed: Observed, run: LabRun, tasks: Mapping[str, LabTask], now: datetime
) -> dict[str, Outcome]:
    """Return step to what became of its call, for those of which there is something to say."""
    found = {}
    for step, task in tasks.items():
        outcome = outcome_of(observed, run, task, now)
        if outcome is not None:
            found[step] = outcome
    return found


def states_after(
    tasks: Mapping[str, LabTask], outcomes: Mapping[str, Outcome]
) -> dict[str, TaskState]:
    """Return step to the state that it has once the outcomes are on record."""
    return {
        step: outcomes[step].state if step in outcomes else task.status.state
        for step, task in tasks.items()
    }


def failed_now(run: LabRun, task: LabTask, outcome: Outcome | None) -> bool:
    """Whether a task failed in this round; one of an earlier round is to be dispatched again."""
    if outcome is not None:
        return outcome.state is TaskState.FAILED
    count = run.status.observed_resume_count
    return task.status.state is TaskState.FAILED and last_round(task) >= count


def end(
    run: LabRun,
    tasks: Mapping[str, LabTask],
    outcomes: Mapping[str, Outcome],
    now: datetime,
) -> list[Action]:
    """Return the end of a run that cannot go on, once nothing of it is in flight. Pure."""
    waiting = {
        step: task
        for step, task in tasks.items()
        if task.status.state in _HALTED and step not in outcomes
    }
    message, by = "another step did not succeed", run.requested_by
    stopped = [
        _stop(run, task, now, reason=Reason.STEP_FAILED, message=message, by=by)
        for task in waiting.values()
    ]
    states = states_after(tasks, outcomes)
    if any(states[step] in IN_FLIGHT for step in states if step not in waiting):
        return stopped
    unknown = [step for step, state in states.items() if state is TaskState.INTERVENTION_REQUIRED]
    if unknown:
        return [*stopped, _stranded(run, tasks, outcomes, unknown, now)]
    return [*stopped, _failed(run, tasks, outcomes, now)]


def _failed(
    run: LabRun,
    tasks: Mapping[str, LabTask],
    outcomes: Mapping[str, Outcome],
    now: datetime,
) -> Action:
    step = next((one for one in tasks if failed_now(run, tasks[one], outcomes.get(one))), None)
    if step is None:
        reason: str = Reason.STEP_FAILED
        message, by = "a step was cancelled", run.requested_by
    elif step in outcomes:
        one = outcomes[step]
        reason, message, by = one.reason, f"step {step}: {one.message}", one.by
    else:
        status = tasks[step].status
        reason, message = status.reason, f"step {step}: {status.message}"
        by = status.history[-1].by if status.history else run.requested_by
    return move_run(run, RunState.FAILED, now=now, reason=reason, message=message, by=by)


def _stranded(
    run: LabRun,
    tasks: Mapping[str, LabTask],
    outcomes: Mapping[str, Outcome],
    unknown: list[str],
    now: datetime,
    **more: Any,
) -> Action:
    reasons = {
        outcomes[step].reason if step in outcomes else tasks[step].status.reason for step in unknown
    }
    reason = next(
        (
            one
            for one in (Reason.CONTROLLER_RESTARTED, Reason.EXECUTION_CANCELLED)
            if one in reasons
        ),
        Reason.TASK_OUTCOME_UNKNOWN,
    )
    by = outcomes[unknown[0]].by if unknown[0] in outcomes else run.requested_by
    message = f"nobody knows what became of step {', '.join(sorted(unknown))}"
    return move_run(
        run,
        RunState.INTERVENTION_REQUIRED,
        now=now,
        reason=reason,
        message=message,
        by=by,
        **more,
    )


def cancel(
    observed: Observed,
    run: LabRun,
    tasks: Mapping[str, LabTask],
    outcomes: dict[str, Outcome],
    now: datetime,
) -> list[Action]:
    """Return what a cancellation does: an acting call in flight strands, nothing else does."""
    dropped = {
        step: cancelled_outcome(observed, run, task)
        for step, task in tasks.items()
        if task.status.state in IN_FLIGHT and step not in outcomes
    }
    states = states_after(tasks, outcomes | dropped)
    unknown = [step for step, state in states.items() if state is TaskState.INTERVENTION_REQUIRED]
    if not unknown:
        by = run.spec.cancel_requested_by
        reason = Reason.EXECUTION_CANCELLED
        start = move_run(
            run, RunState.ABORTING, now=now, reason=reason, by=by, observed_cancel_requested=True
        )
        return [start]
    # A retry is not begun after a cancellation: what failed last has failed.
    ends = {step: _without_retry(one) for step, one in (outcomes | dropped).items()}
    writes: list[Action] = [one.write(tasks[step], run, now) for step, one in ends.items()]
    stranded = _stranded(run, tasks, ends, unknown, now, observed_cancel_requested=True)
    return [*writes, *_stop_waiting(run, tasks, now), stranded]


def abort(
    observed: Observed, run: LabRun, tasks: Mapping[str, LabTask], now: datetime
) -> list[Action]:
    """Return what ends a run that is being aborted: drop what observes, cancel the rest. Pure."""
    ends = {
        step: _without_retry(one) for step, one in outcomes_of(observed, run, tasks, now).items()
    }
    for step, task in tasks.items():
        if task.status.state in IN_FLIGHT and step not in ends:
            ends[step] = cancelled_outcome(observed, run, task)
    writes: list[Action] = [one.write(tasks[step], run, now) for step, one in ends.items()]
    writes += cancel_unsent(run, tasks, now)
    states = states_after(tasks, ends)
    unknown = [step for step, state in states.items() if state is TaskState.INTERVENTION_REQUIRED]
    if unknown:
        return [*writes, _stranded(run, tasks, ends, unknown, now)]
    return [*writes, aborted(run, now)]


def cancel_unsent(run: LabRun, tasks: Mapping[str, LabTask], now: datetime) -> list[Action]:
    """Return the cancellation of every task that was not sent."""
    return [
        move_task(
            task,
            TaskState.CANCELLED,
            run=run,
            now=now,
            reason=Reason.EXECUTION_CANCELLED,
            message="cancelled before it was dispatched",
            by=run.spec.cancel_requested_by,
        )
        for task in tasks.values()
        if task.status.state in UNSENT
    ]


def aborted(run: LabRun, now: datetime) -> Action:
    """Return the end of a cancelled run."""
    return move_run(
        run,
        RunState.ABORTED,
        now=now,
        reason=Reason.EXECUTION_CANCELLED,
        by=run.spec.cancel_requested_by,
        observed_cancel_requested=True,
    )


def _without_retry(outcome: Outcome) -> Outcome:
    again = outcome.state is TaskState.RETRYING
    return replace(outcome, state=TaskState.FAILED) if again else outcome


def _stop_waiting(run: LabRun, tasks: Mapping[str, LabTask], now: datetime) -> list[Action]:
    message, by = "cancelled while it waited for its turn", run.spec.cancel_requested_by
    return [
        _stop(run, task, now, reason=Reason.EXECUTION_CANCELLED, message=message, by=by)
        for task in tasks.values()
        if task.status.state in _WAITING
    ]


def _stop(
    run: LabRun, task: LabTask, now: datetime, *, reason: Reason, message: str, by: str
) -> Action:
    return move_task(
        task, TaskState.FAILED, run=run, now=now, reason=reason, message=message, by=by
    )
