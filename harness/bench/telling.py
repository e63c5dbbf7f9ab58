"""The story of one attempt, in the order in which an attempt lives through it.

Fates are told before anything is asked of an instrument; the history is carried out before the
baseline; the cast plays while the agent acts, and is ended before its requests are counted. What
was done is kept beside the evidence, for a reader. Called by an attempt alone.
"""

from __future__ import annotations

from typing import Any

from harness.bench.course import AttemptPlan
from harness.bench.rundir import AttemptDir
from harness.bench.story import setup
from harness.bench.story.following import AgentRequests, LiveCast
from harness.bench.story.history import Pause, carry_out, pause_of_history
from harness.bench.truth import fates_of
from harness.bench.world import World
from harness.core.files import write_json
from harness.core.waiting import Clock
from harness.errors import SuiteError
from harness.model.suite import Task

#: What others did before the agent began, and what they did beside it: files of a bundle.
HISTORY_FILE, CAST_FILE = "history.json", "cast.json"


def require_truth(plan: AttemptPlan) -> None:
    """Refuse a plan whose task hides something while nobody drew what.

    Raises:
        SuiteError: There is no such truth, or none although the task has some.
    """
    task = plan.task.task
    if (plan.truth is None and not task.truths) or plan.truth in task.truths:
        return
    msg = f"task {task.id!r} has the truths {', '.join(task.truths) or 'none'}, none of them drawn"
    raise SuiteError(msg, hint="draw one of them for each attempt")


def pause_of(task: Task) -> Pause | None:
    """Return where the controller must stop itself for a task, if it must. Pure."""
    return pause_of_history((*setup.acts_of(task.setup), *task.history))


def tell_fates(task: Task, plan: AttemptPlan, world: World) -> None:
    """Tell the instruments alone what becomes of their calls, before there is any."""
    truth = task.truths[plan.truth] if plan.truth is not None else None
    if plan.noise_key or truth:
        world.instruments.tell_fates(plan.noise_key, fates_of(truth) if truth else {})


def reach(task: Task, world: World, bundle: AttemptDir, *, clock: Clock) -> None:
    """Reach the state in which the agent begins, and keep the witness.

    Raises:
        HarnessError: A part of it did not come about.
    """
    if task.setup:
        write_json(bundle.file("setup.json"), setup.perform(task.setup, world, clock=clock))
    if task.history:
        witnesses = carry_out(task.history, world, clock=clock)
        write_json(bundle.file(HISTORY_FILE), {"acts": witnesses})


def cast_of(task: Task, plan: AttemptPlan, world: World, *, since: int, clock: Clock) -> LiveCast:
    """Return the cast of an attempt, its places taken.

    Args:
        task: The task with every placeholder replaced.
        plan: Says which truth it is.
        world: Where they act.
        since: Offset in the audit log before the agent begins.
        clock: Source of time.
    """
    requests = AgentRequests(world.session.audit, user=world.agent_user, since=since)
    return LiveCast(task.cast, world, truth=plan.truth, watched=requests, clock=clock)


def end_cast(cast: LiveCast, task: Task, bundle: AttemptDir) -> None:
    """End the cast and keep what it did. Idempotent.

    Raises:
        ClusterError: It had ended by itself.
    """
    try:
        cast.end()
    finally:
        if task.cast:
            kept: dict[str, Any] = {"acts": cast.witnesses}
            write_json(bundle.file(CAST_FILE), kept)
