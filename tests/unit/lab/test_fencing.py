"""What a controller shuts out before it declares a call's outcome unknown."""

from __future__ import annotations

from harness.lab.fencing import calls_to_fence
from harness.lab.reconcile import Send
from tests.unit.lab.fakes import MIX, FakeLab


def _in_flight() -> FakeLab:
    """A call is on record, and was sent or not: a successor cannot tell."""
    lab = FakeLab()
    lab.submit("night", MIX)
    lab.crash_before = Send
    while lab.crash_before is not None:
        lab.step()
    return lab


def test_a_call_that_another_process_put_on_record_is_fenced_once() -> None:
    tasks = tuple(_in_flight().tasks.values())

    (call,) = calls_to_fence(tasks, sent=(), fenced=())
    again = calls_to_fence(tasks, sent=(), fenced={call.request_id})

    assert (call.instrument, call.fencing_token) == ("mixer-1", 1)
    assert again == ()


def test_ones_own_call_is_not_fenced() -> None:
    lab = FakeLab()
    lab.submit("night", MIX)
    lab.settle()

    assert lab.facts.sent
    assert calls_to_fence(lab.tasks.values(), sent=lab.facts.sent, fenced=()) == ()


def test_what_is_over_is_not_fenced() -> None:
    lab = FakeLab()
    lab.submit("night", MIX)
    lab.advance(10)

    assert calls_to_fence(lab.tasks.values(), sent=(), fenced=()) == ()
