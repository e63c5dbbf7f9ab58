"""Run a program of a measurement: how long it took, and what it printed, or why it is no figure.

Owns the refusal of half measurements. Called by the parts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import click

from harness.core.process import Finished

SideT = TypeVar("SideT")

#: Characters that a message carries of what a failed program said last: some lines.
_TAIL_CHARS = 500


class MeasurementError(click.ClickException):
    """A program of the measurement failed: half a table would mislead."""


def succeeded(what: str, finished: Finished, *, codes: Sequence[int] = (0,)) -> Finished:
    """Return what a program left, if it ended as it must.

    Raises:
        MeasurementError: It ended otherwise, or its time was up; the message has the end of what
            it said.
    """
    if finished.timed_out:
        msg = f"{what} was ended after {finished.duration_s:.0f} s"
        raise MeasurementError(msg)
    if finished.returncode not in codes:
        said = (finished.stderr.strip() or finished.stdout.strip() or "nothing")[-_TAIL_CHARS:]
        msg = f"{what} exited {finished.returncode}: {said}"
        raise MeasurementError(msg)
    return finished


def printed(what: str, finished: Finished) -> Any:
    """Return the JSON document that a program printed.

    Raises:
        MeasurementError: It printed something else.
    """
    try:
        return json.loads(finished.stdout)
    except ValueError as error:
        msg = f"{what} printed no JSON: {finished.stdout[:200]!r}"
        raise MeasurementError(msg) from error


def alternating(
    sides: Sequence[Callable[[int], SideT]], repeats: int
) -> Iterator[tuple[int, SideT]]:
    """Call every side in each round, and give the number of the side with what it returned.

    The one that was first is last in the next round, so that what else the machine does, and what
    one side leaves in caches, hits all alike.

    Args:
        sides: Called with the number of the round, from 1.
        repeats: Number of rounds.
    """
    numbered = list(enumerate(sides))
    for number in range(1, repeats + 1):
        for index, side in numbered if number % 2 else numbered[::-1]:
            yield index, side(number)
