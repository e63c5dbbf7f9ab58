"""How the wait for a call is broken: each way by doing it, each with a witness of its own.

What a story says happened is never believed: the journal, the task's reason or the controller's own
word must show it, or the attempt is an infrastructure error. Called by `acts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from harness.bench.story.calls import STORY_TIMEOUT_S, Eyes, Object, Target
from harness.bench.story.stage import Client
from harness.errors import ClusterError
from harness.kube.resources import LAB_EVENTS, LAB_RUNS
from harness.model.verbs import Interruption

#: Reasons that a task may be left with, by how its wait was broken.
_REASONS: Mapping[str, frozenset[str]] = {
    "cancelled": frozenset({"execution_cancelled"}),
    "timed_out": frozenset({"execution_timed_out"}),
    "controller_killed": frozenset({"controller_restarted"}),
    "instrument_restarted": frozenset({"execution_cancelled", "execution_timed_out"}),
    "link_dropped": frozenset({"task_outcome_unknown"}),
    "answer_delayed": frozenset({"execution_timed_out"}),
    "two_controllers": frozenset({"controller_restarted"}),
    "status_write_lost": frozenset({"controller_restarted"}),
}

#: Makes the request whose call is to be interrupted, and returns the run.
Start = Callable[[], Object]


def interrupt(
    how: Interruption, target: Target, start: Start, *, eyes: Eyes, operator: Client
) -> dict[str, Any]:
    """Have a call made, break the wait for it, and return the witness.

    Args:
        how: What happens.
        target: The call that it meets.
        start: Makes the request.
        eyes: What is seen of the laboratory.
        operator: Who asked for the work, and drops the wait where that is a person's doing.

    Raises:
        ClusterError: It came to another end than it must.
        WaitTimeoutError: A part of it did not come about; the message says which.
    """
    facts = _WAYS[how.kind](how, target, start, eyes, operator)
    reason = eyes.stranded(target, timeout_s=STORY_TIMEOUT_S + _answer_time_s(target, eyes))
    if reason not in _REASONS[how.kind]:
        expected = ", ".join(sorted(_REASONS[how.kind]))
        msg = f"story: {target.task} was left with {reason!r}, expected {expected} of {how.kind}"
        raise ClusterError(msg, hint="look at the controller's log")
    request_id = eyes.dispatches(target.task)[-1]["requestId"]
    if never_sent(how):
        truth_final_at = eyes.clock.now().isoformat()
    else:
        truth_final_at = eyes.ended(request_id)["at"]
    after = _AFTERWARDS.get(how.kind)
    if after is not None:
        facts |= after(how, request_id, eyes)
    return {
        "interruption": how.kind,
        "reason": reason,
        "requestId": request_id,
        "truthFinalAt": truth_final_at,
        **facts,
        "journal": [entry["event"] for entry in eyes.entries(request_id)],
    }


def _answer_time_s(target: Target, eyes: Eyes) -> float:
    """Return how long the controller waits for the answer to a call."""
    own = target.step.get("timeoutSeconds")
    return float(own or eyes.capability(target.step["capability"])["timeoutSeconds"])


def never_sent(how: Interruption) -> bool:
    """Tell whether no instrument ever takes a call that is interrupted so. Pure."""
    before_send = how.kind == "controller_killed" and how.at == "before_send"
    return before_send or how.kind == "two_controllers"


def pause_of(how: Interruption) -> str | None:
    """Return the point at which the controller must stop itself for it, if it must. Pure."""
    if how.kind == "two_controllers":
        return "before_send"
    return how.at if how.kind == "controller_killed" else None


def _cancelled(
    how: Interruption, target: Target, start: Start, eyes: Eyes, operator: Client
) -> dict[str, Any]:
    start()
    accepted = eyes.accepted(eyes.dispatched(target)["requestId"])
    # From the acceptance itself: to hear of it takes a while on a busy machine.
    waited = eyes.clock.now() - datetime.fromisoformat(accepted["at"])
    left_s = how.after_seconds - waited.total_seconds()
    eyes.clock.sleep(min(how.after_seconds, max(0.0, left_s)))
    namespace = eyes.stage.namespace
    operator.patch(LAB_RUNS, target.run, {"spec": {"cancelRequested": True}}, namespace=namespace)
    return {"acceptedAt": accepted["at"]}


def _timed_out(
    how: Interruption, target: Target, start: Start, eyes: Eyes, operator: Client
) -> dict[str, Any]:
    del how, operator  # nobody does anything: the answer does not come in time
    start()
    accepted = eyes.accepted(eyes.dispatched(target)["requestId"])
    return {"acceptedAt": accepted["at"]}


def _controller_killed(
    how: Interruption, target: Target, start: Start, eyes: Eyes, operator: Client
) -> dict[str, Any]:
    del operator
    start()
    _await_pause(eyes, how.at)
    call = eyes.dispatched(target)
    facts = {"killedAt": how.at}
    if how.at != "before_send":
        facts["acceptedAt"] = eyes.accepted(call["requestId"])["at"]
    elif seen := [entry["event"] for entry in eyes.entries(call["requestId"])]:
        msg = f"story: call {call['requestId']} was never to be sent, the journal has {seen}"
        raise ClusterError(msg)
    eyes.stage.laboratory.replace_controller()
    return facts


def _instrument_restarted(
    how: Interruption, target: Target, start: Start, eyes: Eyes, operator: Client
) -> dict[str, Any]:
    drop = _timed_out if target.step.get("timeoutSeconds") else _cancelled
    return drop(how, target, start, eyes, operator)


def _link_dropped(
    how: Interruption, target: Target, start: Start, eyes: Eyes, operator: Client
) -> dict[str, Any]:
    del how, operator
    instrument = eyes.instrument_for(target.step)
    eyes.stage.instruments.drop_link(instrument)
    start()
    accepted = eyes.accepted(eyes.dispatched(target)["requestId"])
    if accepted["instrument"] != instrument:
        msg = f"story: the call went to {accepted['instrument']}, the link of {instrument} was cut"
        raise ClusterError(msg, hint="name the instrument in the step")
    dropped = eyes.entry("link_dropped", accepted["requestId"])
    return {
        "acceptedAt": accepted["at"],
        "droppedAt": dropped["at"],
        "instrument": instrument,
    }


def _two_controllers(
    how: Interruption, target: Target, start: Start, eyes: Eyes, operator: Client
) -> dict[str, Any]:
    del how, operator
    start()
    _await_pause(eyes, "before_send")
    call = eyes.dispatched(target)
    laboratory = eyes.stage.laboratory
    laboratory.start_second_controller()
    eyes.stranded(target)
    # The newer one has told the instrument by now which tokens are none any more.
    fenced = eyes.instrument_entry("fenced", call["instrument"])
    laboratory.wake_first_controller()
    stale = eyes.entry("stale", call["requestId"])
    laboratory.end_first_controller()
    return {"fencedAt": fenced["at"], "staleAt": stale["at"], "instrument": call["instrument"]}


def _status_write_lost(
    how: Interruption, target: Target, start: Start, eyes: Eyes, operator: Client
) -> dict[str, Any]:
    del how, operator
    stage = eyes.stage
    start()
    accepted = eyes.accepted(eyes.dispatched(target)["requestId"])
    # Held, so that the answer comes when no write of it can succeed any more.
    stage.instruments.hold(accepted["instrument"])
    with stage.lost_status_writes() as lost:
        stage.instruments.let_go(accepted["instrument"])
        refused = eyes.until(lost.refused, bool, f"a lost write of the status of {target.task}")
        stage.laboratory.replace_controller()
    return {"acceptedAt": accepted["at"], "writesLost": refused}


def _restart(how: Interruption, request_id: str, eyes: Eyes) -> dict[str, Any]:
    instrument = eyes.accepted(request_id)["instrument"]
    eyes.stage.instruments.restart(instrument, memory=how.memory)
    restarted = eyes.instrument_entry("restarted", instrument)
    return {"restartedAt": restarted["at"], "memory": how.memory, "instrument": instrument}


def _answer_late(how: Interruption, request_id: str, eyes: Eyes) -> dict[str, Any]:
    del how
    eyes.stage.instruments.release(request_id)
    return {"lateAnswer": late_answer(eyes, request_id)["metadata"]["name"]}


def late_answer(eyes: Eyes, request_id: str) -> Object:
    """Wait until an answer that nobody waited for is on record, and return its event."""

    def event() -> Object | None:
        return next(
            (
                item
                for item in eyes.all_of(LAB_EVENTS)
                if item["spec"]["type"] == "LateAnswer"
                and item["spec"].get("payload", {}).get("requestId") == request_id
            ),
            None,
        )

    return eyes.some(event, f"late answer to call {request_id}")


def _await_pause(eyes: Eyes, point: str) -> None:
    eyes.until(
        lambda: eyes.stage.laboratory.paused_at,
        lambda seen: seen == point,
        f"pause of the controller {point}",
    )


_WAYS: Mapping[str, Callable[[Interruption, Target, Start, Eyes, Client], dict[str, Any]]] = {
    "cancelled": _cancelled,
    "timed_out": _timed_out,
    "controller_killed": _controller_killed,
    "instrument_restarted": _instrument_restarted,
    "link_dropped": _link_dropped,
    "answer_delayed": _timed_out,
    "two_controllers": _two_controllers,
    "status_write_lost": _status_write_lost,
}

_AFTERWARDS: Mapping[str, Callable[[Interruption, str, Eyes], dict[str, Any]]] = {
    "instrument_restarted": _restart,
    "answer_delayed": _answer_late,
}
