"""Which resources a journal calls suspects."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from harness.errors import TerraformError
from harness.terraform.doubts import Doubts
from harness.terraform.journal import Journal
from harness.terraform.outcomes import Change, Outcome
from harness.terraform.states import State
from harness.terraform.trust import KeptState
from tests.unit.terraform.fakes import fake_creations


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.jsonl")


def test_a_stack_without_a_journal_has_no_suspects(journal: Journal) -> None:
    assert journal.doubts().suspects == ()
    assert not journal.applied


@pytest.mark.parametrize("outcome", [None, Outcome.KILLED, Outcome.TIMED_OUT, Outcome.CRASHED])
def test_an_apply_cut_off_leaves_what_had_not_settled(
    journal: Journal, outcome: Outcome | None
) -> None:
    journal.begin("apply", fake_creations("b", "a", "c"))
    journal.settle("b")
    if outcome:
        journal.end("apply", outcome)

    assert journal.doubts().suspects == ("a", "c")
    assert journal.applied


@pytest.mark.parametrize(
    "outcome", [Outcome.DONE, Outcome.FAILED, Outcome.INTERRUPTED, Outcome.LOCKED]
)
def test_an_apply_that_ended_in_order_leaves_none(journal: Journal, outcome: Outcome) -> None:
    journal.begin("apply", fake_creations("a"))
    journal.end("apply", outcome)

    assert journal.doubts().suspects == ()


def test_suspects_stay_until_they_are_made_good(journal: Journal) -> None:
    journal.begin("apply", fake_creations("a", "b"))
    journal.begin("apply", fake_creations("a", "b"))
    journal.settle("a")
    journal.end("apply", Outcome.FAILED)
    after_failure = journal.doubts().suspects

    journal.begin("destroy")
    journal.end("destroy", Outcome.FAILED)
    after_failed_destroy = journal.doubts().suspects
    journal.begin("destroy")
    journal.end("destroy", Outcome.DONE)

    assert after_failure == ("b",)
    assert after_failed_destroy == ("b",)
    assert journal.doubts().suspects == ()


def test_a_last_line_cut_by_a_kill_is_left_out(journal: Journal, tmp_path: Path) -> None:
    journal.begin("apply", fake_creations("a"))
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes() + b'{"settled":"a')

    assert journal.doubts().suspects == ("a",)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_was_created_by_an_apply_that_was_cut_off_may_be_in_no_state(
    journal: Journal,
) -> None:
    update = Change(address="b", actions=("update",))
    journal.begin("apply", (*fake_creations("a", "c"), update))
    journal.settle("a")
    journal.end("apply", Outcome.KILLED)

    assert journal.doubts() == Doubts(suspects=("b", "c"), created=("a", "c"), unnamed=False)


def test_an_apply_is_in_doubt_as_a_whole_until_it_says_what_it_does(journal: Journal) -> None:
    journal.begin("apply", None)
    before = journal.doubts()
    journal.planned(fake_creations("a"))
    after = journal.doubts()
    journal.end("apply", Outcome.KILLED)
    journal.begin("apply", None)
    journal.end("apply", Outcome.DONE)

    assert before == Doubts(suspects=(), created=(), unnamed=True)
    assert after == Doubts(suspects=("a",), created=("a",), unnamed=False)
    assert journal.doubts() == Doubts(suspects=(), created=(), unnamed=False)


def test_a_state_that_is_put_back_ends_the_doubts_of_the_apply_that_could_not_write_it(
    journal: Journal,
) -> None:
    journal.begin("apply", fake_creations("a", "b"))
    journal.end("apply", Outcome.KILLED)
    journal.begin("apply", fake_creations("b", "c"))
    journal.end("apply", Outcome.STATE_UNWRITTEN)
    before = journal.doubts().suspects
    journal.recovered()
    journal.recovered()

    assert before == ("a", "b", "c")
    assert journal.doubts().suspects == ("a", "b")


def test_what_is_known_to_be_gone_is_in_doubt_no_more(journal: Journal) -> None:
    journal.begin("apply", fake_creations("a", "b"))
    journal.forget(["a"])
    partly = journal.doubts().created
    journal.begin_anew()

    assert partly == ("b",)
    assert journal.doubts().created == ()
    assert not journal.applied


def test_the_last_state_written_down_is_the_one_to_be_held_to(journal: Journal) -> None:
    state = State(lineage="l", serial=3, resources=(), outputs={})
    journal.begin("apply")
    nothing = journal.kept()
    journal.end("apply", Outcome.DONE, state)
    ended = journal.kept()
    journal.begin("apply")

    assert nothing == (None, True)
    assert ended == (KeptState(lineage="l", serial=3, resources=0), False)
    assert journal.kept() == (KeptState(lineage="l", serial=3, resources=0), True)


def test_an_operation_is_cut_off_only_when_it_is_over_and_not_in_order(journal: Journal) -> None:
    def cut_off() -> bool:
        last = journal.last()
        assert last is not None
        return last.cut_off

    journal.begin("apply")
    running = cut_off()
    journal.end("apply", Outcome.KILLED)
    killed = cut_off()
    journal.begin("destroy")
    journal.end("destroy", Outcome.DONE)

    assert (running, killed, cut_off()) == (False, True, False)


def test_a_journal_that_cannot_be_read_is_set_aside_only_when_all_begins_anew(
    journal: Journal, tmp_path: Path
) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text("<<<\n{}\n")
    with pytest.raises(TerraformError, match="the journal cannot be read: ") as caught:
        journal.doubts()

    journal.begin_anew()

    assert caught.value.hint == "take the stack down by its record"
    assert journal.doubts() == Doubts(suspects=(), created=(), unnamed=False)
    assert (tmp_path / "journal.jsonl.unreadable").read_text() == "<<<\n{}\n"
