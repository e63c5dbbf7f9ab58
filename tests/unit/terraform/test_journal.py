"""Which resources a journal calls suspects."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from harness.terraform.journal import Journal
from harness.terraform.outcomes import Outcome


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.jsonl")


def test_a_stack_without_a_journal_has_no_suspects(journal: Journal) -> None:
    assert journal.suspects() == ()
    assert not journal.applied


@pytest.mark.parametrize("outcome", [None, Outcome.KILLED, Outcome.TIMED_OUT, Outcome.CRASHED])
def test_an_apply_cut_off_leaves_what_had_not_settled(
    journal: Journal, outcome: Outcome | None
) -> None:
    journal.begin("apply", ["b", "a", "c"])
    journal.settle("b")
    if outcome:
        journal.end("apply", outcome)

    assert journal.suspects() == ("a", "c")
    assert journal.applied


@pytest.mark.parametrize(
    "outcome", [Outcome.DONE, Outcome.FAILED, Outcome.INTERRUPTED, Outcome.LOCKED]
)
def test_an_apply_that_ended_in_order_leaves_none(journal: Journal, outcome: Outcome) -> None:
    journal.begin("apply", ["a"])
    journal.end("apply", outcome)

    assert journal.suspects() == ()


def test_suspects_stay_until_they_are_made_good(journal: Journal) -> None:
    journal.begin("apply", ["a", "b"])
    journal.begin("apply", ["a", "b"])
    journal.settle("a")
    journal.end("apply", Outcome.FAILED)
    after_failure = journal.suspects()

    journal.begin("destroy")
    journal.end("destroy", Outcome.FAILED)
    after_failed_destroy = journal.suspects()
    journal.begin("destroy")
    journal.end("destroy", Outcome.DONE)

    assert after_failure == ("b",)
    assert after_failed_destroy == ("b",)
    assert journal.suspects() == ()


def test_a_last_line_cut_by_a_kill_is_left_out(journal: Journal, tmp_path: Path) -> None:
    journal.begin("apply", ["a"])
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes() + b'{"settled":"a')

    assert journal.suspects() == ("a",)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
