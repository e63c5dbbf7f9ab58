"""Which controls are tried on which tasks, and in which of their truths. Pure.

Called by the proof of a suite.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.bench.loader import LoadedTask
from harness.errors import SuiteError
from harness.model.suite import Expected, ExpectedScore


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One attempt of a control.

    Attributes:
        truth: The world that the task is in; None where nothing is hidden.
        number: Number of the attempt among those of this control on this task.
        expected: What it must come to.
    """

    control: str
    task: LoadedTask
    truth: str | None
    number: int
    expected: Expected

    def __str__(self) -> str:
        """Return what is tried, for a line of progress."""
        where = f" ({self.truth})" if self.truth else ""
        return f"{self.control} on {self.task.task.id}{where}"


def check_truths(tasks: Iterable[LoadedTask], truths: Iterable[str], where: Path) -> None:
    """See that each truth that somebody names is one of these tasks'. Pure.

    Args:
        tasks: Those that are tried.
        truths: What is named.
        where: Folder of the suite, for the message.

    Raises:
        SuiteError: No task has one of them.
    """
    known = list(dict.fromkeys(truth for task in tasks for truth in task.task.truths))
    if unknown := [truth for truth in truths if truth not in known]:
        msg = f"{where}: truth {unknown[0]!r} is none of the chosen tasks'"
        told = f"name one of {', '.join(known)}" if known else "leave it out: they have none"
        raise SuiteError(msg, hint=told)


def trials_of(
    names: Sequence[str],
    table: Mapping[str, Mapping[str, ExpectedScore]],
    tasks: Sequence[LoadedTask],
    *,
    only: Sequence[str],
) -> tuple[Trial, ...]:
    """Return every attempt that the table asks for, in its order. Pure.

    Args:
        names: Controls.
        table: Control to task to what it must score.
        tasks: Tasks.
        only: Truths, as in `truths_to_try`.
    """
    trials = []
    for index, name in enumerate(names):
        for place, task in enumerate(tasks):
            expected = table[name][task.task.id]
            truths = truths_to_try(tuple(task.task.truths), expected, turn=index + place, only=only)
            trials += [
                Trial(
                    control=name,
                    task=task,
                    truth=truth,
                    number=number,
                    expected=expected.of(truth),
                )
                for number, truth in enumerate(truths, 1)
            ]
    return tuple(trials)


def truths_to_try(
    truths: Sequence[str], expected: ExpectedScore, *, turn: int, only: Sequence[str] = ()
) -> tuple[str | None, ...]:
    """Return the truths in which a control is run on a task: all where its score hangs on them.

    Pure.

    Args:
        truths: Those of the task.
        expected: What the control must score.
        turn: Which of them it is where one is enough.
        only: Instead of all that, those of the task that are named here, if any is.
    """
    if named := tuple(truth for truth in truths if truth in only):
        return named
    if not truths:
        return (None,)
    return tuple(truths) if expected.by_truth else (truths[turn % len(truths)],)
