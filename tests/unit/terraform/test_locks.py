"""Who holds a state, for how long, and whether it can have been we."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from harness.terraform.locks import LockHolder, parse_lock

_TAKEN = datetime(2026, 11, 30, 1, 45, 29, tzinfo=UTC)

_SAID = (
    "Error message: resource temporarily unavailable\nLock Info:\n  ID:        e309\n"
    "  Path:      terraform.tfstate\n  Operation: OperationTypeApply\n  Who:       ann@lab\n"
    "  Version:   1.11.4\n  Created:   2026-11-30 01:45:29.123456789 +0000 UTC\n  Info:      \n"
)


@pytest.mark.parametrize("text", [_SAID, " ".join(_SAID.split())])
def test_a_holder_is_read_however_its_lines_are_joined(text: str) -> None:
    assert parse_lock(text) == LockHolder(
        lock_id="e309", who="ann@lab", operation="OperationTypeApply", created_at=_TAKEN
    )


@pytest.mark.parametrize(
    ("later", "age"),
    [
        (timedelta(seconds=-3), "0 s"),
        (timedelta(seconds=119), "119 s"),
        (timedelta(minutes=3), "3 min"),
        (timedelta(hours=5), "5 h"),
        (timedelta(days=3), "3 d"),
    ],
)
def test_a_lock_says_how_long_ago_it_was_taken(later: timedelta, age: str) -> None:
    assert parse_lock(_SAID).described(_TAKEN + later) == (
        f"state locked by ann@lab for OperationTypeApply {age} ago, lock e309"
    )


def test_a_lock_that_says_nothing_is_described_all_the_same() -> None:
    assert parse_lock("temporarily unavailable").described(_TAKEN) == (
        "state locked by somebody for an operation some time ago, lock unknown"
    )


@pytest.mark.parametrize(
    ("host", "begun_s", "ended_s", "expected"),
    [
        ("lab", -1.0, None, True),
        ("lab", 1.5, None, True),
        ("lab", -1.0, 5.0, True),
        ("lab", 3.0, None, False),
        ("lab", -9.0, -5.0, False),
        ("another", -1.0, None, False),
    ],
)
def test_a_lock_is_ours_only_from_our_host_and_our_time(
    host: str, begun_s: float, ended_s: float | None, *, expected: bool
) -> None:
    ended_at = None if ended_s is None else _TAKEN + timedelta(seconds=ended_s)

    ours = parse_lock(_SAID).taken_by(
        host=host, begun_at=_TAKEN + timedelta(seconds=begun_s), ended_at=ended_at
    )

    assert ours is expected


def test_a_lock_without_a_time_is_nobodys() -> None:
    holder = parse_lock("Lock Info:\n  ID: x\n  Who: ann@lab\n")

    assert not holder.taken_by(host="lab", begun_at=_TAKEN, ended_at=None)
