"""What policy leaves to somebody else: who may decide, when it counts, and until when."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from harness.lab.reconcile import next_wake
from harness.model.lab import RunState, TaskState
from tests.unit.lab.fakes import ALLOW, ASK, MIX, WEIGH, FakeLab, policy

ENDED_S = 5.0


def _asking(*steps: dict[str, Any]) -> FakeLab:
    lab = FakeLab()
    lab.policies = [policy(ASK, ALLOW)]
    lab.submit("day", *(steps or (MIX,)))
    lab.advance(1)
    return lab


def _occupied() -> FakeLab:
    """An unsettled call of another run has the mixer."""
    lab = FakeLab()
    lab.submit("night", {**MIX, "inputs": {**MIX["inputs"], "sample_id": "s9"}})
    lab.advance(0.3)
    lab.edit("night", cancel_requested=True, cancel_requested_by="canceller")
    lab.advance(2)
    return lab


def _asking_while_occupied() -> FakeLab:
    lab = _occupied()
    lab.policies = [policy(ASK, ALLOW)]
    lab.submit("day", MIX)
    lab.advance(1)
    return lab


def _soon(lab: FakeLab, seconds: float = ENDED_S) -> str:
    return (lab.now + timedelta(seconds=seconds)).isoformat()


def test_what_needs_an_approval_waits_for_it_and_asks_once() -> None:
    lab = _asking()

    lab.advance(600)

    assert lab.run_state("day")[0] is RunState.RUNNING
    assert lab.task_state("day-mix")[0] is TaskState.WAITING_FOR_AUTHORIZATION
    assert lab.journal == []
    assert lab.event_types().count("TaskWaitingForAuthorization") == 1
    asked = lab.event("ApprovalRequested")
    assert (asked["actor"], asked["payload"]["capability"]) == ("operator", "sim.mix_color")
    assert lab.event("PolicyEvaluated")["payload"]["effect"] == "require_approval"


def test_a_grant_lets_the_task_go_on_and_is_on_record() -> None:
    lab = _asking(MIX, WEIGH)

    lab.approve("day", reason="the vessel is free")
    lab.advance(5)

    assert lab.run_state("day")[0] is RunState.COMPLETED
    decided = lab.event("ApprovalDecided")
    assert decided["actor"] == "approver"
    assert decided["payload"]["decision"] == "granted"
    assert decided["payload"]["reason"] == "the vessel is free"


@pytest.mark.parametrize(
    ("by", "spec"),
    [
        ("operator", {}),
        ("approver", {"runUid": "another"}),
        ("approver", {"capabilities": ["sim.move_labware"]}),
        ("approver", {"decidedAt": None}),
        ("", {}),
    ],
)
def test_a_grant_of_ones_own_or_of_something_else_does_not_count(
    by: str, spec: dict[str, Any]
) -> None:
    lab = _asking()

    lab.approve("day", by=by, **spec)
    lab.advance(1)

    assert lab.task_state("day-mix")[0] is TaskState.WAITING_FOR_AUTHORIZATION


def test_a_grant_from_before_it_was_asked_for_does_not_count() -> None:
    lab = FakeLab()
    lab.policies = [policy({**ASK, "capability": "sim.measure_mass"}, ALLOW)]
    lab.submit("day", MIX, WEIGH)
    lab.settle()

    lab.approve("day")
    lab.advance(5)

    assert lab.task_state("day-mix")[0] is TaskState.SUCCEEDED
    assert lab.task_state("day-weigh")[0] is TaskState.WAITING_FOR_AUTHORIZATION


def test_a_grant_covers_what_it_names_and_later_steps_that_ask_for_the_same() -> None:
    again = {**MIX, "id": "again"}
    lab = _asking(MIX, again)

    lab.approve("day", capabilities=["sim.mix_color"])
    lab.advance(5)

    assert lab.run_state("day")[0] is RunState.COMPLETED
    assert lab.event_types().count("ApprovalRequested") == 1


def test_a_refusal_fails_the_task_and_the_run_and_says_who_and_why() -> None:
    lab = _asking()

    lab.approve("day", "no", decision="refused", expiresAt=None, reason="not this week")
    lab.advance(1)

    assert lab.task_state("day-mix") == (TaskState.FAILED, "approval_refused")
    assert lab.run_state("day") == (RunState.FAILED, "approval_refused")
    assert lab.tasks["day-mix"].status.message == (
        "approval no: refused by approver: not this week"
    )
    assert lab.journal == []


def test_a_later_refusal_takes_a_grant_back() -> None:
    lab = _asking_while_occupied()
    lab.approve("day")
    lab.advance(1)

    lab.approve("day", "no", decision="refused", expiresAt=None)
    lab.advance(1)

    assert lab.task_state("day-mix") == (TaskState.FAILED, "approval_refused")


def test_a_grant_that_ends_while_the_task_waits_for_an_instrument_is_looked_at_again() -> None:
    lab = _asking_while_occupied()
    lab.approve("day", expiresAt=_soon(lab))
    lab.settle()

    waiting = lab.task_state("day-mix")[0]
    wake = next_wake(lab.observed(), lab.now)
    ended_at = lab.now + timedelta(seconds=ENDED_S)
    lab.advance(ENDED_S)

    assert waiting is TaskState.WAITING_FOR_RESOURCES
    assert wake == ended_at
    assert lab.task_state("day-mix") == (TaskState.FAILED, "approval_expired")
    assert lab.run_state("day") == (RunState.FAILED, "approval_expired")
    assert lab.event("TaskFailed")["at"] == ended_at.isoformat().replace("+00:00", "Z")


def test_a_second_grant_before_the_first_ends_keeps_the_task_waiting() -> None:
    lab = _asking_while_occupied()
    lab.approve("day", expiresAt=_soon(lab))
    lab.advance(1)

    lab.approve("day", "longer", expiresAt=_soon(lab, 60))
    lab.advance(ENDED_S)

    assert lab.task_state("day-mix")[0] is TaskState.WAITING_FOR_RESOURCES


def test_a_resumed_run_asks_again_and_older_decisions_do_not_count() -> None:
    lab = _asking()
    lab.approve("day", "no", decision="refused", expiresAt=None)
    lab.advance(1)
    lab.approve("day", "too-early")
    lab.advance(1)

    lab.edit("day", resume_count=1, resumed_by="resumer")
    lab.advance(1)
    asked_again = lab.task_state("day-mix")[0]
    lab.approve("day", "own", by="resumer")
    lab.approve("day", "creators", by="operator")
    lab.advance(1)
    still = lab.task_state("day-mix")[0]
    lab.approve("day", "second")
    lab.advance(5)

    assert asked_again is TaskState.WAITING_FOR_AUTHORIZATION
    assert still is TaskState.WAITING_FOR_AUTHORIZATION
    assert lab.event_types().count("ApprovalRequested") == 2
    assert lab.run_state("day")[0] is RunState.COMPLETED
    assert lab.tasks["day-mix"].status.dispatches[0].requested_by == "resumer"


def test_a_run_that_waits_for_an_approval_can_be_cancelled() -> None:
    lab = _asking()

    lab.edit("day", cancel_requested=True, cancel_requested_by="canceller")
    lab.advance(1)

    assert lab.run_state("day")[0] is RunState.ABORTED
    assert lab.task_state("day-mix")[0] is TaskState.CANCELLED


def test_a_policy_that_changes_while_a_task_waits_makes_it_ask() -> None:
    lab = _occupied()
    lab.submit("day", MIX)
    lab.advance(1)
    waited = lab.task_state("day-mix")[0]

    lab.policies = [policy(ASK, ALLOW)]
    lab.advance(1)

    assert waited is TaskState.WAITING_FOR_RESOURCES
    assert lab.task_state("day-mix")[0] is TaskState.WAITING_FOR_AUTHORIZATION
