"""Whether the runs and tasks that a story speaks of are there: a name that is not does nothing.

A cast that names what nobody made would stand still, and the agent would be the one who pays. Pure.
`rules` asks when a suite is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from harness.core.documents import KeyPath
from harness.model.story import Act
from harness.model.suite import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """One name that nothing bears.

    Attributes:
        key: Where it stands, in the task's file.
        what: `run`, `task` or `object`.
        known: What there is, sorted.
    """

    key: KeyPath
    what: str
    name: str
    known: tuple[str, ...]

    @property
    def hint(self) -> str:
        """What to do."""
        near = get_close_matches(self.name, self.known, n=1)
        if near:
            return f"did you mean {near[0]!r}?"
        return f"use one of {', '.join(self.known) or 'none: the story makes none'}"


def unknown_names(task: Task) -> Iterator[Unknown]:
    """Yield each run and task that an act names and nobody makes, and triggers that miss by a bit.

    What the prompt names may be the agent's to make. What is touched may also be the stack's, which
    is not known here, so only a name that is nearly another's is taken for a mistake.
    """
    acts = [(("history", index), act) for index, act in enumerate(task.history)]
    played: list[tuple[KeyPath, Act]] = [
        (("cast", number, "do", index), act)
        for number, part in enumerate(task.cast)
        for index, act in enumerate(part.do)
    ]
    everything: list[tuple[KeyPath, Act]] = [*acts, *played]
    runs, tasks, others = _made([act for _, act in everything])
    for key, act in everything:
        for verb, what, name in _spoken_of(act):
            known = runs if what == "run" else tasks
            if name not in known and name not in task.prompt:
                yield Unknown(key=(*key, verb, what), what=what, name=name, known=known)
    there = tuple(sorted({*runs, *tasks, *others}))
    for number, part in enumerate(task.cast):
        touched = part.when.touched
        if touched is None or touched in there or touched in task.prompt:
            continue
        if get_close_matches(touched, there, n=1):
            key = ("cast", number, "when", "touched")
            yield Unknown(key=key, what="object", name=touched, known=there)


def _made(acts: list[Act]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the names of the runs, of their tasks, and of what else acts make."""
    runs = [act.run for act in acts if act.run]
    tasks = {f"{run.name}-{step.id}" for run in runs for step in run.steps}
    others = [made.name for act in acts for made in (act.note, act.orders) if made]
    return tuple(sorted({run.name for run in runs})), tuple(sorted(tasks)), tuple(others)


def _spoken_of(act: Act) -> Iterator[tuple[str, str, str]]:
    """Yield verb, kind and name of each run or task that an act is about."""
    if act.resume:
        yield "resume", "run", act.resume.run
    if act.cancel:
        yield "cancel", "run", act.cancel.run
    if act.approve and act.approve.run is not None:
        yield "approve", "run", act.approve.run
    if act.attest:
        yield "attest", "task", act.attest.task
    if act.release:
        yield "release", "task", act.release.task
