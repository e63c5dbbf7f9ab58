"""Addresses and actions, read from plans, streams and states."""

from __future__ import annotations

from typing import Any

import pytest

from harness.terraform.outcomes import Change
from harness.terraform.plans import (
    is_whole,
    planned_changes,
    settled_address,
    streamed_changes,
)
from tests.unit.terraform.fakes import fake_hook, fake_planned, fake_summary


def test_only_what_acts_is_a_change_and_no_value_is_kept() -> None:
    wire = [
        {"address": "b", "change": {"actions": ["delete", "create"], "after": {"token": "s3cret"}}},
        {"address": "a", "change": {"actions": ["update"]}},
        {"address": "data.c", "change": {"actions": ["read"]}},
        {"address": "d", "change": {"actions": ["no-op"]}},
    ]

    assert planned_changes(wire) == (
        Change(address="a", actions=("update",)),
        Change(address="b", actions=("delete", "create")),
    )


def test_a_stream_says_the_same_as_a_plan() -> None:
    events = [
        {"type": "planned_change", "change": {"resource": {"addr": name}, "action": action}}
        for name, action in (
            *(("b", "replace"), ("a", "update")),
            *(("c", "read"), ("d", "noop"), ("e", "move"), ("f", "import")),
        )
    ]

    assert streamed_changes([*events, {"type": "resource_drift"}]) == (
        Change(address="a", actions=("update",)),
        Change(address="b", actions=("delete", "create")),
    )


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (fake_hook("apply_complete", "new", "create"), "new"),
        (fake_hook("apply_complete", "gone", "delete"), "gone"),
        (fake_hook("apply_complete", "swapped", "create"), "swapped"),
        (fake_hook("apply_complete", "swapped", "delete"), None),
        (fake_hook("apply_start", "new", "create"), None),
        (fake_hook("apply_errored", "new", "create"), None),
    ],
)
def test_a_resource_is_settled_when_its_last_action_is_complete(
    event: dict[str, Any], expected: str | None
) -> None:
    planned = {"new": ("create",), "gone": ("delete",), "swapped": ("delete", "create")}

    assert settled_address(event, planned) == expected


def test_a_stream_is_whole_when_it_names_what_its_summary_counts() -> None:
    events = [
        fake_planned("a", "create"),
        fake_planned("b", "replace"),
        fake_planned("c", "update"),
        fake_planned("d", "delete"),
        fake_planned("e", "noop"),
        fake_summary("plan", add=2, change=1, remove=2),
    ]

    verdicts = [
        is_whole(found, streamed_changes(found))
        for found in (events, events[1:], events[:1] + events[2:], events[:-1])
    ]

    assert verdicts == [True, False, False, False]
