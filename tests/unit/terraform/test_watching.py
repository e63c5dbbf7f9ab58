"""What a listener makes of an apply's stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from harness.terraform.outcomes import Change
from harness.terraform.watching import ApplyWatch
from tests.unit.terraform.fakes import (
    fake_creations,
    fake_hook,
    fake_planned,
    fake_summary,
)

_PLAN = [
    fake_planned("a", "create"),
    fake_planned("b", "replace"),
    fake_summary("plan", add=2, remove=1),
]
_VERSION = {"@level": "info", "type": "version", "terraform": "1.11.4"}


class FakeJournal:
    """Keeps what it is told, in order."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def planned(self, changes: Sequence[Change]) -> None:
        """Hear what is about to be done."""
        self.told.append(tuple(change.address for change in changes))

    def settled(self, address: str) -> None:
        """Hear what is done."""
        self.told.append(address)


def _hear(
    events: Sequence[dict[str, Any] | str], changes: Sequence[Change] | None = None
) -> list[Any]:
    journal = FakeJournal()
    watch = ApplyWatch(changes, planned=journal.planned, settled=journal.settled)
    for event in events:
        watch.line(event if isinstance(event, str) else json.dumps(event))
    watch.ended()
    return journal.told


def test_an_apply_says_what_it_is_about_to_do_before_it_has_done_any_of_it() -> None:
    done = [
        fake_hook("apply_complete", "b", "delete"),
        fake_hook("apply_complete", "a", "create"),
        fake_hook("apply_complete", "b", "create"),
        fake_summary("apply", add=2, remove=1),
    ]

    assert _hear([_VERSION, *_PLAN, *done]) == [("a", "b"), "a", "b"]


def test_what_a_saved_plan_says_is_not_asked_of_the_stream() -> None:
    done = [fake_hook("apply_complete", "a", "create")]

    assert _hear([*_PLAN, *done], fake_creations("a")) == ["a"]


def test_a_stream_that_lost_a_line_leaves_it_unknown_what_the_apply_does() -> None:
    assert _hear([_VERSION, *_PLAN[1:], fake_hook("apply_start", "a", "create")]) == []


def test_an_apply_that_ends_before_its_plan_is_made_does_nothing() -> None:
    assert _hear([_VERSION, _PLAN[0]]) == [()]


@pytest.mark.parametrize(
    "events", [[], ["killed"], [_VERSION, fake_hook("apply_start", "a", "create")]]
)
def test_a_stream_that_says_too_little_leaves_it_unknown(
    events: Sequence[dict[str, Any] | str],
) -> None:
    assert _hear(events) == []
