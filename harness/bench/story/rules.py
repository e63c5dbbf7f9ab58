"""What a task's story must keep to, beyond what its model can say: checked when a suite is read.

Pure. The loader asks for problems, and names file and line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.bench.story.interruptions import pause_of
from harness.bench.story.named import unknown_names
from harness.core.documents import KeyPath
from harness.model.suite import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryProblem:
    """What is wrong with a story.

    Attributes:
        key: Where, in the task's file.
        problem: What was found.
        hint: What to do.
    """

    key: KeyPath
    problem: str
    hint: str


def story_problem(task: Task, history: Sequence[Mapping[str, Any]]) -> StoryProblem | None:
    """Return the first thing that is wrong with a task's story; None when nothing is. Pure.

    Args:
        task: The task with every placeholder replaced.
        history: Its history as the file says it, with placeholders still in it.
    """
    if task.setup and task.history:
        hint = "make the setup an act of the history"
        return StoryProblem(key=("history",), problem="stands beside a setup", hint=hint)
    found = [
        *_history_problems(task, history),
        *_cast_problems(task),
        *_check_problems(task),
        *_name_problems(task),
    ]
    return found[0] if found else None


def _history_problems(task: Task, history: Sequence[Mapping[str, Any]]) -> Iterator[StoryProblem]:
    pauses = 0
    for index, act in enumerate(task.history):
        key: KeyPath = ("history", index)
        if act.only:
            hint = "do it in every truth: an agent must not read the truth off what it finds"
            yield StoryProblem(key=(*key, "only"), problem="hangs on the truth", hint=hint)
        how = act.interrupt
        if how is None:
            continue
        if how.step and act.run and how.step not in {step.id for step in act.run.steps}:
            problem = f"names step {how.step!r}, which the run has not"
            hint = f"name one of {', '.join(step.id for step in act.run.steps)}"
            yield StoryProblem(key=(*key, "run", "interrupt", "step"), problem=problem, hint=hint)
        if pause_of(how) is None:
            continue
        pauses += 1
        if pauses > 1:
            problem = "is a second interruption at a named point of the controller"
            yield StoryProblem(key=key, problem=problem, hint="keep one of them")
        if act.run and how.step is None and len(act.run.steps) > 1:
            problem = f"{how.kind} meets a run of {len(act.run.steps)} steps"
            hint = "say with interrupt.step which one"
            yield StoryProblem(key=(*key, "run", "interrupt"), problem=problem, hint=hint)
        if "{{" in _run_name(history[index]):
            problem = f"{how.kind} meets a run whose name hangs on a variable"
            yield StoryProblem(key=key, problem=problem, hint="give the run a fixed name")


def _cast_problems(task: Task) -> Iterator[StoryProblem]:
    for number, part in enumerate(task.cast):
        for index, act in enumerate(part.do):
            key: KeyPath = ("cast", number, "do", index)
            yield from _unknown_truths(task, act.only, (*key, "only"))
            if act.interrupt is not None:
                hint = "break waits in the history, where the state is reached for certain"
                yield StoryProblem(key=key, problem="interrupts a call in the cast", hint=hint)


def _check_problems(task: Task) -> Iterator[StoryProblem]:
    for index, check in enumerate(task.checks):
        yield from _unknown_truths(task, check.only, ("checks", index, "only"))


def _name_problems(task: Task) -> Iterator[StoryProblem]:
    for one in unknown_names(task):
        problem = f"names {one.what} {one.name!r}, which nobody makes"
        yield StoryProblem(key=one.key, problem=problem, hint=one.hint)


def _unknown_truths(task: Task, names: Sequence[str], key: KeyPath) -> Iterator[StoryProblem]:
    for name in names:
        if name not in task.truths:
            hint = f"use one of {', '.join(task.truths) or 'none: the task has no truths'}"
            yield StoryProblem(key=key, problem=f"{name!r} is no truth of the task", hint=hint)


def _run_name(act: Mapping[str, Any]) -> str:
    """Return the name of the run that an act of a file is about."""
    return str(act["run"]["name"] if "run" in act else act["resume"]["run"])
