"""Addresses and actions, read from plans, streams and states."""

from __future__ import annotations

import pytest

from harness.terraform.outcomes import Change
from harness.terraform.plans import (
    is_managed,
    planned_changes,
    settled_address,
    streamed_changes,
)
from tests.unit.terraform.fakes import fake_hook


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
        for name, action in (("b", "replace"), ("a", "update"), ("c", "read"), ("d", "noop"))
    ]

    assert streamed_changes([*events, {"type": "resource_drift"}]) == (
        Change(address="a", actions=("update",)),
        Change(address="b", actions=("delete", "create")),
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (fake_hook("apply_complete", "new", "create"), "new"),
        (fake_hook("apply_complete", "gone", "delete"), "gone"),
        (fake_hook("apply_complete", "swapped", "create"), "swapped"),
        (fake_hook("apply_complete", "swapped", "delete"), None),
        (fake_hook("apply_start", "new", "create"), None),
        (fake_hook("apply_errored", "new", "create"), None),
        ("Acquiring state lock", None),
    ],
)
def test_a_resource_is_settled_when_its_last_action_is_complete(
    line: str, expected: str | None
) -> None:
    planned = {"new": ("create",), "gone": ("delete",), "swapped": ("delete", "create")}

    assert settled_address(line, planned) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("terraform_data.x", True),
        ('module.a["data.b"].module.c[0].kubectl_manifest.x["y"]', True),
        ("module.data.terraform_data.x", True),
        ("data.http.x", False),
        ("module.a.data.http.x[0]", False),
        ("[command] state", False),
        ("", False),
    ],
)
def test_a_managed_resource_is_told_from_a_data_source(address: str, *, expected: bool) -> None:
    assert is_managed(address) is expected
