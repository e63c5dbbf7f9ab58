"""What is due for one run: its tasks, its next state, its next step.

Pure but for the claims on instruments that one pass shares. A run's state is read off its tasks.
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
)
from harness.lab.reconcile.choosing import Claims
from harness.lab.reconcile.dispatch import plan_dispatch
from harness.lab.reconcile.ends import (
    UNSENT,
    abort,
    aborted,
    cancel,
    cancel_unsent,
    end,
    failed_now,
    outcomes_of,
    states_after,
)
from harness.lab.reconcile.observed import Observed
from harness.lab.steps import needs_of
from harness.model.lab import LabRun, LabTask, Reason, RunState, Step, TaskState


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
            actions = abort(observed, run, tasks, now)
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
        return aborted(run, now)
    return move_run(run, RunState.QUEUED, now=now, by=run.spec.operator)


def _queued(
    observed: Observed, run: LabRun, tasks: Mapping[str, LabTask], now: datetime
) -> list[Action]:
    if run.spec.cancel_requested:
        return [*cancel_unsent(run, tasks, now), aborted(run, now)]
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
    outcomes = outcomes_of(observed, run, tasks, now)
    if run.spec.cancel_requested and not run.status.observed_cancel_requested:
        return cancel(observed, run, tasks, outcomes, now)
    writes: list[Action] = [one.write(tasks[step], run, now) for step, one in outcomes.items()]
    states = states_after(tasks, outcomes)
    stuck = {TaskState.INTERVENTION_REQUIRED, TaskState.CANCELLED}
    failed = [step for step in states if failed_now(run, tasks[step], outcomes.get(step))]
    if failed or stuck & set(states.values()):
        return writes + end(run, tasks, outcomes, now)
    if all(state is TaskState.SUCCEEDED for state in states.values()):
        return [*writes, move_run(run, RunState.COMPLETED, now=now, by=run.requested_by)]
    needs = needs_of(run.spec.steps)
    for step in (step.id for step in run.spec.steps):
        ready = all(states[need] is TaskState.SUCCEEDED for need in needs[step])
        due = states[step] in {*UNSENT, TaskState.RETRYING, TaskState.FAILED}
        if ready and due and step not in outcomes:
            writes += plan_dispatch(observed, run, tasks[step], claims, now)
    return writes


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
