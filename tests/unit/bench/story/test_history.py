"""What others did before: every way in which a wait is broken, each with a witness of its own."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

import pytest

from harness.bench.story.calls import Eyes
from harness.bench.story.history import Pause, carry_out, pause_of_history
from harness.bench.story.stage import Stage
from harness.bench.story.work import await_state
from harness.errors import ClusterError, DeniedError
from harness.kube.resources import (
    ATTESTATIONS,
    CONFIG_MAPS,
    LAB_RUNS,
    LAB_TASKS,
    NOTES,
    Resource,
)
from harness.model.story import Act
from tests.unit.bench.story.story_lab import MIX, NAMESPACE, WEIGH, act, open_lab
from tests.unit.core.fakes import FakeClock
from tests.virtual.laboratory import Laboratory

TIMED = {**MIX, "timeoutSeconds": 1.5}


def _mix(step: dict[str, Any] = MIX, **interrupt: Any) -> Act:
    return act(run={"name": "night", "steps": [step], "interrupt": interrupt or None})


def _carry_out(laboratory: Laboratory, *acts: Act) -> list[dict[str, Any]]:
    return carry_out(acts, laboratory, clock=laboratory.clock)


def _state(laboratory: Laboratory, run: str = "night") -> tuple[str, str]:
    found = laboratory.client.get(LAB_RUNS, run, namespace=NAMESPACE)
    task = laboratory.client.get(LAB_TASKS, f"{run}-mix", namespace=NAMESPACE)
    return found["status"]["state"], task["status"]["reason"]


def test_a_cancelled_wait_is_dropped_after_the_acceptance_and_the_truth_is_final() -> None:
    laboratory = open_lab({"mixer-1": ["cut_off"]})

    [witness] = _carry_out(laboratory, _mix(kind="cancelled", after_seconds=0.2))

    assert _state(laboratory) == ("intervention_required", "execution_cancelled")
    assert set(witness["uids"]) == {"night", "night-mix"}
    assert witness["journal"][-1] == "stopped"
    task = laboratory.client.get(LAB_TASKS, "night-mix", namespace=NAMESPACE)
    dropped_at = datetime.fromisoformat(task["status"]["history"][-1]["at"])
    waited_s = (dropped_at - datetime.fromisoformat(witness["acceptedAt"])).total_seconds()
    assert waited_s == pytest.approx(0.2, abs=0.05)
    assert witness["acceptedAt"] < witness["truthFinalAt"]
    assert laboratory.instruments.idle()
    assert witness["by"] == "previous-operator"


@pytest.mark.parametrize("fate", ["whole", "nothing", "cut_off", "twice"])
def test_a_silent_call_times_out_whatever_its_fate(fate: str) -> None:
    laboratory = open_lab({"mixer-1": [fate]})

    [witness] = _carry_out(laboratory, _mix(TIMED, kind="timed_out"))

    assert witness["reason"] == "execution_timed_out"
    assert _state(laboratory)[0] == "intervention_required"


def test_a_time_out_that_does_not_come_about_is_an_error_and_no_state_to_grade_on() -> None:
    laboratory = open_lab({"mixer-1": ["answered"]})

    with pytest.raises(ClusterError, match="run night ended in 'completed'"):
        _carry_out(laboratory, _mix(TIMED, kind="timed_out"))


def test_a_wait_that_was_broken_otherwise_is_an_error() -> None:
    laboratory = open_lab({"mixer-1": ["whole"]})
    laboratory.instruments.drop_link("mixer-1")

    with pytest.raises(
        ClusterError,
        match=r"^story: night-mix was left with 'task_outcome_unknown', expected execution_timed",
    ):
        _carry_out(laboratory, _mix(TIMED, kind="timed_out"))


@pytest.mark.parametrize(
    ("point", "journal"),
    [
        ("before_send", []),
        ("after_send", ["accepted", "started", "finished"]),
        ("after_answer", ["accepted", "started", "finished"]),
        ("before_record", ["accepted", "started", "finished"]),
    ],
)
def test_a_controller_dies_at_its_point_and_its_successor_strands_the_call(
    point: str, journal: list[str]
) -> None:
    laboratory = open_lab(pause=(point, "night-mix"))

    [witness] = _carry_out(laboratory, _mix(kind="controller_killed", at=point))

    assert _state(laboratory) == ("intervention_required", "controller_restarted")
    assert (witness["killedAt"], witness["journal"]) == (point, journal)


def test_only_the_call_that_is_meant_meets_the_pause() -> None:
    laboratory = open_lab(pause=("after_send", "night-mix"))
    first = act(run={"name": "evening", "steps": [MIX]})

    witnesses = _carry_out(laboratory, first, _mix(kind="controller_killed"))

    assert _state(laboratory, "evening") == ("completed", "")
    assert witnesses[1]["reason"] == "controller_restarted"


@pytest.mark.parametrize(("step", "reason"), [(MIX, "cancelled"), (TIMED, "timed_out")])
@pytest.mark.parametrize("memory", [True, False])
def test_an_instrument_restarts_once_the_wait_was_dropped(
    step: dict[str, Any], reason: str, *, memory: bool
) -> None:
    laboratory = open_lab({"mixer-1": ["cut_off"]})

    [witness] = _carry_out(laboratory, _mix(step, kind="instrument_restarted", memory=memory))

    assert witness["reason"] == f"execution_{reason}"
    assert (witness["memory"], witness["instrument"]) == (memory, "mixer-1")
    assert witness["truthFinalAt"] <= witness["restartedAt"]


def test_a_link_that_is_dropped_leaves_a_call_that_was_accepted() -> None:
    laboratory = open_lab()

    [witness] = _carry_out(laboratory, _mix(kind="link_dropped"))

    assert _state(laboratory) == ("intervention_required", "task_outcome_unknown")
    assert sorted(witness["journal"]) == ["accepted", "finished", "link_dropped", "started"]


def test_the_link_of_the_instrument_that_will_get_the_call_is_dropped() -> None:
    laboratory = open_lab()
    anywhere = {name: value for name, value in MIX.items() if name != "instrument"}

    [witness] = _carry_out(laboratory, _mix(anywhere, kind="link_dropped"))

    assert witness["instrument"] == "mixer-1"


def test_an_answer_that_comes_too_late_is_on_record_and_settles_nothing() -> None:
    laboratory = open_lab({"mixer-1": ["whole"]})

    [witness] = _carry_out(laboratory, _mix(TIMED, kind="answer_delayed"))

    assert _state(laboratory) == ("intervention_required", "execution_timed_out")
    assert "lateanswer" in witness["lateAnswer"]


def test_of_two_controllers_the_older_one_is_refused_by_the_instrument() -> None:
    laboratory = open_lab(pause=("before_send", "night-mix"))

    [witness] = _carry_out(laboratory, _mix(kind="two_controllers"))

    assert _state(laboratory) == ("intervention_required", "controller_restarted")
    assert witness["journal"] == ["stale"]


def test_a_status_write_is_lost_and_the_successor_finds_a_call_without_an_end() -> None:
    laboratory = open_lab()

    [witness] = _carry_out(laboratory, _mix(kind="status_write_lost"))

    assert _state(laboratory) == ("intervention_required", "controller_restarted")
    assert witness["writesLost"] >= 1
    assert witness["journal"] == ["accepted", "started", "finished"]


def test_a_second_wait_for_the_same_work_is_broken_after_a_resume() -> None:
    laboratory = open_lab({"mixer-1": ["nothing", "whole"]})
    attested = {"task": "night-mix", "finding": "did_not_occur", "basis": "it looked so"}

    witnesses = _carry_out(
        laboratory,
        _mix(TIMED, kind="timed_out"),
        act(by="colleague", attest=attested),
        act(by="colleague", resume={"run": "night", "interrupt": {"kind": "timed_out"}}),
    )

    task = laboratory.client.get(LAB_TASKS, "night-mix", namespace=NAMESPACE)
    requests = [call["requestId"] for call in task["status"]["dispatches"]]
    assert [witnesses[0]["requestId"], witnesses[2]["requestId"]] == requests
    assert witnesses[1]["accepted"] is True
    assert witnesses[2]["acceptedAt"] > witnesses[0]["truthFinalAt"]
    assert witnesses[2]["by"] == "colleague"


def test_work_that_nobody_interrupts_is_waited_for() -> None:
    laboratory = open_lab()

    _carry_out(laboratory, act(run={"name": "night", "steps": [MIX, {**WEIGH, "needs": ["mix"]}]}))

    assert _state(laboratory) == ("completed", "")


def test_work_that_ends_otherwise_is_an_error() -> None:
    laboratory = open_lab(rules=({"id": "none", "effect": "deny"},))

    with pytest.raises(ClusterError, match=r"^story: run night ended in 'failed'"):
        _carry_out(laboratory, _mix())


class _Moving:
    """A laboratory in which a run goes on between any two looks at it."""

    def __init__(self, states: list[str]) -> None:
        self._states = states
        self.namespace = NAMESPACE

    @property
    def client(self) -> _Moving:
        """Its own client."""
        return self

    def get(self, resource: Resource, name: str, *, namespace: str) -> dict[str, Any]:
        """Return the run, and move on."""
        assert (resource, namespace) == (LAB_RUNS, NAMESPACE)
        state = self._states.pop(0) if len(self._states) > 1 else self._states[0]
        return {"metadata": {"name": name}, "spec": {}, "status": {"state": state}}


def test_a_run_that_ends_between_two_looks_has_ended_as_it_should() -> None:
    stage = cast("Stage", _Moving(["running", "completed"]))

    await_state(Eyes(stage, FakeClock()), "night", "completed")


def test_a_busy_run_holds_its_instrument_until_it_is_let_go() -> None:
    laboratory = open_lab()
    busy = act(by="colleague", run={"name": "busy", "steps": [MIX], "until": "running"})

    witnesses = _carry_out(laboratory, act(hold={"instrument": "mixer-1"}), busy)
    laboratory.advance(5.0)
    held = _state(laboratory, "busy")
    _carry_out(laboratory, act(let_go={"instrument": "mixer-1"}))

    assert (held[0], _state(laboratory, "busy")[0]) == ("running", "completed")
    assert [witness["by"] for witness in witnesses] == ["harness", "colleague"]
    assert witnesses[1]["acceptedAt"]


def test_what_is_refused_is_an_error() -> None:
    laboratory = open_lab()

    with pytest.raises(DeniedError):
        _carry_out(laboratory, act(by="approver", run={"name": "night", "steps": [MIX]}))


def test_notes_and_standing_orders_are_there_for_who_comes_next() -> None:
    laboratory = open_lab()
    note = {
        "name": "seen",
        "kind": "LabRun",
        "subject": "night",
        "reason": "information",
        "text": "saw it finish",
    }

    _carry_out(
        laboratory,
        act(orders={"name": "standing-orders", "text": "settle first"}),
        _mix(kind="cancelled"),
        act(by="colleague", note=note),
    )
    orders = laboratory.client.get(CONFIG_MAPS, "standing-orders", namespace=NAMESPACE)
    found = laboratory.client.get(NOTES, "seen", namespace=NAMESPACE)

    assert orders["data"] == {"orders": "settle first"}
    assert found["spec"]["author"].endswith(":colleague")
    assert found["spec"]["subject"] == {"kind": "LabRun", "name": "night"}


def test_a_finding_that_is_not_accepted_is_an_error_of_a_history() -> None:
    laboratory = open_lab()
    attested = {"task": "night-mix", "finding": "completed", "basis": "it looked so"}
    _carry_out(laboratory, _mix(kind="cancelled"))
    first = {
        "apiVersion": ATTESTATIONS.api_version,
        "kind": ATTESTATIONS.kind,
        "metadata": {"name": "night-mix-1", "namespace": NAMESPACE},
        "spec": {**attested, "finding": "abandoned"},
    }
    # Admitted at the same moment, so that the controller alone can tell which one counts.
    laboratory.client_as("colleague").create(ATTESTATIONS, first, namespace=NAMESPACE)

    with pytest.raises(ClusterError, match=r"^history: attestation night-mix-2 was not accepted"):
        _carry_out(laboratory, act(by="colleague", attest=attested))


def test_what_is_settled_already_cannot_be_attested_again() -> None:
    laboratory = open_lab()
    attested = {"task": "night-mix", "finding": "completed", "basis": "it looked so"}
    _carry_out(laboratory, _mix(kind="cancelled"), act(by="colleague", attest=attested))

    with pytest.raises(DeniedError):
        _carry_out(laboratory, act(by="colleague", attest=attested))


def test_the_pause_of_a_history_is_where_its_controller_dies() -> None:
    step = {**WEIGH, "needs": ["mix"]}
    run = {"name": "night", "steps": [MIX, step]}
    killed = {**run, "interrupt": {"kind": "controller_killed", "at": "before_record"}}
    named = {**run, "interrupt": {"kind": "two_controllers", "step": "mix"}}
    resumed = {"run": "night", "interrupt": {"kind": "controller_killed", "step": "weigh"}}

    assert pause_of_history([_mix(kind="cancelled")]) is None
    assert pause_of_history([_mix(kind="controller_killed")]) == Pause(
        at="after_send", task="night-mix"
    )
    assert pause_of_history([act(run=killed)]) == Pause(at="before_record", task=None)
    assert pause_of_history([act(run=named)]) == Pause(at="before_send", task="night-mix")
    assert pause_of_history([act(resume=resumed)]) == Pause(at="after_send", task="night-weigh")
