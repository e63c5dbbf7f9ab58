"""What is due for one run: its tasks, its next state, its next step.

Pure but for the claims on instruments that one pass shares. A run's state is read off its tasks:
unknown wins over failed, and nothing is decided while a call is in flight.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from harness.lab.reconcile.actions import (
    Action,
    Create,
    WriteStatus,
    acknowledge_run,
    api_version,
    move_run,
    move_task,
)
from harness.lab.reconcile.dispatch import Claims, plan_dispatch
from harness.lab.reconcile.observed import Observed, last_round
from harness.lab.reconcile.outcomes import IN_FLIGHT, Outcome, cancelled_outcome, outcome_of
from harness.lab.steps import needs_of
from harness.model.lab import LabRun, LabTask, Reason, RunState, Step, TaskState

#: States of a task that has not been sent anywhere.
_UNSENT = frozenset({TaskState.PENDING, TaskState.WAITING_FOR_RESOURCES})


def plan_run(observed: Observed, run: LabRun, claims: Claims, now: datetime) -> list[Action]:
    """Return what is due for a run. Pure but for `claims`, which it extends."""
    tasks = {task.spec.step: task for task in observed.tasks if task.spec.run_uid == run.uid}
    match run.status.state:
        case RunState.PLANNED:
            actions = [_planned(run, now)]
        case RunState.QUEUED:
            actions = _queued(observed, run, tasks, now)
        case RunState.RUNNING:
            actions = _running(observed, run, tasks, claims, now)
        case RunState.ABORTING:
            actions = _aborting(observed, run, tasks, now)
        case RunState.INTERVENTION_REQUIRED:
            actions = _resolved(run, tasks, now)
        case RunState.FAILED:
            actions = _resumed(run, now)
        case _:
            actions = []
    written = any(isinstance(one, WriteStatus) and one.kind == "LabRun" for one in actions)
    if not written and run.status.observed_generation != run.metadata.generation:
        actions = [*actions, acknowledge_run(run)]
    return actions


def _planned(run: LabRun, now: datetime) -> Action:
    if run.spec.cancel_requested:
        return _aborted(run, now)
    return move_run(run, RunState.QUEUED, now=now, by=run.spec.operator)


def _queued(
    observed: Observed, run: LabRun, tasks: Mapping[str, LabTask], now: datetime
) -> list[Action]:
    if run.spec.cancel_requested:
        return [*_cancel_unsent(run, tasks, now), _aborted(run, now)]
    missing = [step for step in run.spec.steps if step.id not in tasks]
    if not missing:
        return [move_run(run, RunState.RUNNING, now=now, by=run.spec.operator)]
    live = {one.uid for one in observed.runs}
    taken = {task.name: task for task in observed.tasks if task.spec.run_uid in live}
    for step in missing:
        name = f"{run.name}-{step.id}"
        if name in taken:
            message = f"task {name} belongs to run {taken[name].spec.run}"
            reason = Reason.INVALID_INPUTS
            by = run.spec.operator
            return [move_run(run, RunState.FAILED, now=now, reason=reason, message=message, by=by)]
    return [_task(run, step) for step in missing]


def _task(run: LabRun, step: Step) -> Create:
    manifest: dict[str, Any] = {
        "apiVersion": api_version(),
        "kind": "LabTask",
        "metadata": {
            "name": f"{run.name}-{step.id}",
            "ownerReferences": [
                {
                    "apiVersion": api_version(),
                    "kind": "LabRun",
                    "name": run.name,
                    "uid": run.uid,
                    "controller": True,
                }
            ],
        },
        "spec": {
            "run": run.name,
            "runUid": run.uid,
            "step": step.id,
            "capability": step.capability,
            "inputs": step.inputs,
        },
    }
    return Create(subject=run.name, kind="LabTask", manifest=manifest)


def _running(
    observed: Observed,
    run: LabRun,
    tasks: Mapping[str, LabTask],
    claims: Claims,
    now: datetime,
) -> list[Action]:
    if gone := [step.id for step in run.spec.steps if step.id not in tasks]:
        message = f"the task of step {gone[0]} is gone"
        reason, by = Reason.STEP_FAILED, run.requested_by
        return [move_run(run, RunState.FAILED, now=now, reason=reason, message=message, by=by)]
    outcomes = _outcomes(observed, run, tasks, now)
    if run.spec.cancel_requested and not run.status.observed_cancel_requested:
        return _cancelled(observed, run, tasks, outcomes, now)
    writes: list[Action] = [one.write(tasks[step], run, now) for step, one in outcomes.items()]
    states = _states(tasks, outcomes)
    if any(state is TaskState.INTERVENTION_REQUIRED for state in states.values()):
        return writes + _ended(run, tasks, outcomes, states, now)
    failed = [step for step in states if _failed_now(run, tasks[step], outcomes.get(step))]
    if failed or any(state is TaskState.CANCELLED for state in states.values()):
        return writes + _ended(run, tasks, outcomes, states, now)
    if all(state is TaskState.SUCCEEDED for state in states.values()):
        return [*writes, move_run(run, RunState.COMPLETED, now=now, by=run.requested_by)]
    needs = needs_of(run.spec.steps)
    for step in (step.id for step in run.spec.steps):
        ready = all(states[need] is TaskState.SUCCEEDED for need in needs[step])
        due = states[step] in {*_UNSENT, TaskState.RETRYING, TaskState.FAILED}
        if ready and due and step not in outcomes:
            writes += plan_dispatch(observed, run, tasks[step], claims, now)
    return writes


def _failed_now(run: LabRun, task: LabTask, outcome: Outcome | None) -> bool:
    """Whether a task failed in this round; one of an earlier round is to be dispatched again."""
    if outcome is not None:
        return outcome.state is TaskState.FAILED
    count = run.status.observed_resume_count
    return task.status.state is TaskState.FAILED and last_round(task) >= count


def _ended(
    run: LabRun,
    tasks: Mapping[str, LabTask],
    outcomes: Mapping[str, Outcome],
    states: Mapping[str, TaskState],
    now: datetime,
) -> list[Action]:
    """Return the end of a run that cannot go on, once nothing of it is in flight."""
    stopped: list[Action] = [
        move_task(
            task,
            TaskState.FAILED,
            run=run,
            now=now,
            reason=Reason.STEP_FAILED,
            message="another step did not succeed",
            by=run.requested_by,
        )
        for task in tasks.values()
        if task.status.state is TaskState.WAITING_FOR_RESOURCES
    ]
    if any(state in IN_FLIGHT for state in states.values()):
        return stopped
    unknown = [step for step, state in states.items() if state is TaskState.INTERVENTION_REQUIRED]
    if unknown:
        return [*stopped, _stranded(run, tasks, outcomes, unknown, now)]
    failed = [step for step in states if _failed_now(run, tasks[step], outcomes.get(step))]
    if not failed:
        message = "a step was cancelled"
        reason, by = Reason.STEP_FAILED, run.requested_by
        end = move_run(run, RunState.FAILED, now=now, reason=reason, message=message, by=by)
        return [*stopped, end]
    step = failed[0]
    outcome = outcomes.get(step)
    why, text = (
        (outcome.reason, outcome.message)
        if outcome
        else (tasks[step].status.reason, tasks[step].status.message)
    )
    by = outcome.by if outcome and outcome.by else run.requested_by
    end = move_run(run, RunState.FAILED, now=now, reason=why, message=f"step {step}: {text}", by=by)
    return [*stopped, end]


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


def _cancelled(
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
    states = _states(tasks, outcomes | dropped)
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


def _stop_waiting(run: LabRun, tasks: Mapping[str, LabTask], now: datetime) -> list[Action]:
    return [
        move_task(
            task,
            TaskState.FAILED,
            run=run,
            now=now,
            reason=Reason.EXECUTION_CANCELLED,
            message="cancelled while it waited for an instrument",
            by=run.spec.cancel_requested_by,
        )
        for task in tasks.values()
        if task.status.state is TaskState.WAITING_FOR_RESOURCES
    ]


def _aborting(
    observed: Observed, run: LabRun, tasks: Mapping[str, LabTask], now: datetime
) -> list[Action]:
    ends = {step: _without_retry(one) for step, one in _outcomes(observed, run, tasks, now).items()}
    for step, task in tasks.items():
        if task.status.state in IN_FLIGHT and step not in ends:
            ends[step] = cancelled_outcome(observed, run, task)
    writes: list[Action] = [one.write(tasks[step], run, now) for step, one in ends.items()]
    writes += _cancel_unsent(run, tasks, now)
    states = _states(tasks, ends)
    unknown = [step for step, state in states.items() if state is TaskState.INTERVENTION_REQUIRED]
    if unknown:
        return [*writes, _stranded(run, tasks, ends, unknown, now)]
    return [*writes, _aborted(run, now)]


def _without_retry(outcome: Outcome) -> Outcome:
    if outcome.state is not TaskState.RETRYING:
        return outcome
    return Outcome(
        state=TaskState.FAILED,
        reason=outcome.reason,
        message=outcome.message,
        by=outcome.by,
        records=outcome.records,
        more=outcome.more,
    )


def _cancel_unsent(run: LabRun, tasks: Mapping[str, LabTask], now: datetime) -> list[Action]:
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
        if task.status.state in _UNSENT
    ]


def _aborted(run: LabRun, now: datetime) -> Action:
    return move_run(
        run,
        RunState.ABORTED,
        now=now,
        reason=Reason.EXECUTION_CANCELLED,
        by=run.spec.cancel_requested_by,
        observed_cancel_requested=True,
    )


def _resolved(run: LabRun, tasks: Mapping[str, LabTask], now: datetime) -> list[Action]:
    if any(task.status.state is TaskState.INTERVENTION_REQUIRED for task in tasks.values()):
        return []
    settled = [moved for task in tasks.values() for moved in task.status.history[-1:]]
    last = max(settled, key=lambda moved: moved.at, default=None)
    return [
        move_run(
            run,
            RunState.FAILED,
            now=now,
            reason=Reason.INTERVENTION_RESOLVED,
            message="every unknown outcome was attested",
            by=last.by if last else "",
        )
    ]


def _resumed(run: LabRun, now: datetime) -> list[Action]:
    if run.spec.resume_count <= run.status.observed_resume_count:
        return []
    return [
        move_run(
            run,
            RunState.RUNNING,
            now=now,
            by=run.spec.resumed_by,
            observed_resume_count=run.spec.resume_count,
        )
    ]


def _outcomes(
    observed: Observed, run: LabRun, tasks: Mapping[str, LabTask], now: datetime
) -> dict[str, Outcome]:
    found = {}
    for step, task in tasks.items():
        outcome = outcome_of(observed, run, task, now)
        if outcome is not None:
            found[step] = outcome
    return found


def _states(tasks: Mapping[str, LabTask], outcomes: Mapping[str, Outcome]) -> dict[str, TaskState]:
    return {
        step: outcomes[step].state if step in outcomes else task.status.state
        for step, task in tasks.items()
    }
