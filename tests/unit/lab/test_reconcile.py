"""Reconciliation with a virtual clock: what each cause makes of a run and its tasks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.naming import service_account_user
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.slot import InstrumentSetup
from harness.lab.reconcile import Send, WriteStatus, reconcile
from harness.model.lab import Instrument, RunState, TaskState
from tests.unit.lab.fakes import (
    ALLOW,
    MIX,
    WEIGH,
    FakeLab,
    mix_capability,
    policy,
    weigh_capability,
)


def _stranded(latency_s: float = 1.0) -> FakeLab:
    lab = FakeLab(latency_s=latency_s)
    lab.submit("night", MIX)
    lab.advance(0.3)
    lab.edit("night", cancel_requested=True, cancel_requested_by="canceller")
    lab.settle()
    return lab


def test_a_run_completes_step_by_step_in_declared_order() -> None:
    lab = FakeLab()
    lab.submit("day", MIX, WEIGH)

    lab.advance(5)

    assert lab.run_state("day") == (RunState.COMPLETED, "")
    assert lab.tasks["day-weigh"].status.outputs["mass_g"] == 5.0
    assert [entry["requestId"] for entry in lab.journal if entry["event"] == "accepted"] == [
        f"{lab.tasks['day-mix'].uid}-1",
        f"{lab.tasks['day-weigh'].uid}-1",
    ]
    assert sorted(lab.event_types()) == [
        "PolicyEvaluated",
        "PolicyEvaluated",
        "RunCompleted",
        "RunCreated",
        "RunStarted",
        "TaskStarted",
        "TaskStarted",
        "TaskSucceeded",
        "TaskSucceeded",
    ]


def test_steps_with_needs_go_side_by_side() -> None:
    lab = FakeLab()
    first, second = {**WEIGH, "id": "a"}, {**WEIGH, "id": "b", "needs": ["mix"]}
    lab.submit("day", {**MIX, "id": "mix"}, first, second)

    lab.advance(0.05)

    states = {name: task.status.state for name, task in lab.tasks.items()}
    assert states == {
        "day-mix": TaskState.RUNNING,
        "day-a": TaskState.RUNNING,
        "day-b": TaskState.PENDING,
    }


def test_the_dispatch_is_on_record_before_it_is_sent() -> None:
    lab = FakeLab()
    lab.submit("day", MIX)

    actions = [action for _ in range(10) for action in lab.step()]

    kinds = [
        action.name if isinstance(action, WriteStatus) else "send"
        for action in actions
        if isinstance(action, WriteStatus | Send)
    ]
    assert kinds[-3:] == ["mixer-1", "day-mix", "send"]


def test_a_dropped_wait_of_an_acting_call_is_unknown_and_the_call_runs_on() -> None:
    lab = _stranded()

    lab.advance(5)

    assert lab.run_state("night") == (RunState.INTERVENTION_REQUIRED, "execution_cancelled")
    assert lab.task_state("night-mix") == (
        TaskState.INTERVENTION_REQUIRED,
        "execution_cancelled",
    )
    assert lab.instruments["mixer-1"].status.quarantined
    assert lab.instruments["mixer-1"].status.held_by == "night-mix"
    assert lab.rack.world.vessels["s1"].mass_g == 5.0
    assert lab.event("LateAnswer")["payload"]["outcome"] == "succeeded"
    assert lab.event("LateAnswer")["actor"] == "operator"
    assert lab.event("TaskInterventionRequired")["actor"] == "canceller"


def test_a_dropped_wait_of_an_observing_call_aborts_the_run() -> None:
    lab = FakeLab()
    lab.submit("look", WEIGH, {**WEIGH, "id": "again"})
    lab.advance(0.05)

    lab.edit("look", cancel_requested=True, cancel_requested_by="canceller")
    lab.settle()

    assert lab.run_state("look") == (RunState.ABORTED, "execution_cancelled")
    assert lab.task_state("look-weigh") == (TaskState.CANCELLED, "execution_cancelled")
    assert lab.task_state("look-again") == (TaskState.CANCELLED, "execution_cancelled")


def test_an_answer_that_is_there_counts_although_the_wait_is_dropped() -> None:
    lab = FakeLab()
    lab.submit("night", MIX)
    lab.settle()
    for entry in lab.rack.advance(lab.now.replace(hour=2)):
        lab.journal.append(entry)
        lab._hear(entry)

    lab.edit("night", cancel_requested=True, cancel_requested_by="canceller")
    lab.settle()

    assert lab.task_state("night-mix") == (TaskState.SUCCEEDED, "")
    assert lab.run_state("night")[0] is RunState.ABORTED


def test_a_run_cancelled_before_anything_was_sent_is_aborted() -> None:
    lab = FakeLab()
    lab.submit("early", MIX)
    lab.edit("early", cancel_requested=True, cancel_requested_by="canceller")

    lab.advance(3)

    assert lab.run_state("early")[0] is RunState.ABORTED
    assert lab.journal == []
    assert lab.event("RunAborted")["actor"] == "canceller"


def test_a_time_out_strands_what_may_not_be_repeated() -> None:
    lab = FakeLab(latency_s=30)
    lab.submit("slow", MIX)

    lab.advance(11)

    assert lab.run_state("slow") == (RunState.INTERVENTION_REQUIRED, "task_outcome_unknown")
    assert lab.task_state("slow-mix")[1] == "execution_timed_out"


def test_a_time_out_of_what_may_be_repeated_is_retried_within_its_budget() -> None:
    lab = FakeLab(latency_s=30)
    lab.capabilities = [mix_capability(retrySafety="repeatable", maxRetries=1)]
    lab.submit("slow", MIX)

    lab.advance(25)

    assert lab.run_state("slow") == (RunState.FAILED, "execution_timed_out")
    assert len(lab.tasks["slow-mix"].status.dispatches) == 2
    assert lab.event_types().count("TaskRetrying") == 1
    assert lab.event_types().count("PolicyEvaluated") == 2


def test_no_retry_is_begun_once_another_step_has_failed() -> None:
    lab = FakeLab()
    lab.policies = [policy({"id": "no", "effect": "deny", "capability": "sim.mix_*"}, ALLOW)]
    lab.capabilities = [
        mix_capability(),
        weigh_capability(maxRetries=3, instrumentType="mixer", timeoutSeconds=0.5),
    ]
    lab.submit("day", WEIGH, MIX, {**WEIGH, "id": "last", "needs": ["mix", "weigh"]})

    lab.advance(3)

    assert lab.run_state("day") == (RunState.FAILED, "policy_denied")
    assert lab.task_state("day-weigh") == (TaskState.FAILED, "step_failed")
    assert len(lab.tasks["day-weigh"].status.dispatches) == 1
    assert lab.task_state("day-last")[0] is TaskState.PENDING


@pytest.mark.parametrize("step", ["own", "capability"])
def test_a_step_may_name_a_time_out_of_its_own(step: str) -> None:
    lab = FakeLab(latency_s=30)
    lab.submit("slow", {**MIX, "timeoutSeconds": 1} if step == "own" else MIX)

    lab.advance(2)

    expected = RunState.INTERVENTION_REQUIRED if step == "own" else RunState.RUNNING
    assert lab.run_state("slow")[0] is expected


def test_a_restart_strands_what_acts_and_fails_what_observes() -> None:
    lab = FakeLab()
    lab.submit("night", MIX)
    lab.submit("look", WEIGH)
    lab.advance(0.05)

    lab.restart_controller()
    lab.settle()

    controller = service_account_user("lab", "controller")
    assert lab.run_state("night") == (RunState.INTERVENTION_REQUIRED, "controller_restarted")
    assert lab.run_state("look") == (RunState.FAILED, "controller_restarted")
    assert lab.event("TaskRecoveryRequired")["actor"] == controller
    assert lab.event("RunRecoveryRequired")["actor"] == controller


def test_a_crash_between_the_record_and_the_send_looks_like_one_after_it() -> None:
    lab = FakeLab()
    lab.submit("night", MIX)
    lab.crash_before = Send

    lab.advance(3)

    assert lab.task_state("night-mix") == (
        TaskState.INTERVENTION_REQUIRED,
        "controller_restarted",
    )
    assert lab.journal == []


def test_a_refusal_of_the_instrument_fails_the_run_and_strands_nothing() -> None:
    lab = FakeLab(refuses=True)
    lab.submit("day", MIX)

    lab.advance(1)

    assert lab.run_state("day") == (RunState.FAILED, "instrument_refused")
    assert lab.instruments["mixer-1"].status.held_by == ""


def test_an_error_of_the_instrument_is_an_answer() -> None:
    lab = FakeLab()
    lab.submit("look", WEIGH)

    lab.advance(1)

    assert lab.run_state("look") == (RunState.FAILED, "instrument_error")
    assert lab.tasks["look-weigh"].status.message == "instrument balance-1: unknown sample 's1'"
    assert lab.tasks["look-weigh"].status.dispatches[0].answered_at is not None


def test_a_link_that_fails_after_the_record_leaves_the_outcome_unknown() -> None:
    lab = FakeLab()
    lab.link_down = True
    lab.submit("night", MIX)
    lab.submit("look", WEIGH)

    lab.advance(1)

    assert lab.run_state("night") == (RunState.INTERVENTION_REQUIRED, "task_outcome_unknown")
    assert lab.run_state("look") == (RunState.FAILED, "task_outcome_unknown")


def test_a_denial_is_recorded_and_fails_the_run_without_a_dispatch() -> None:
    lab = FakeLab()
    lab.policies = [policy({"id": "no", "effect": "deny", "reason": "closed"}, ALLOW)]
    lab.submit("day", MIX)

    lab.advance(1)

    assert lab.run_state("day") == (RunState.FAILED, "policy_denied")
    assert lab.event("PolicyEvaluated")["payload"] == {
        "capability": "sim.mix_color",
        "effect": "deny",
        "rule": "lab/no",
        "reason": "closed",
    }
    assert lab.journal == []


def test_a_resumed_run_is_evaluated_afresh_and_every_evaluation_is_on_record() -> None:
    lab = FakeLab()
    lab.policies = []
    lab.submit("day", MIX)
    lab.advance(1)
    lab.edit("day", resume_count=1, resumed_by="resumer")
    lab.advance(1)
    lab.policies = [policy(ALLOW)]

    lab.edit("day", resume_count=2, resumed_by="resumer")
    lab.advance(3)

    assert lab.run_state("day")[0] is RunState.COMPLETED
    evaluated = [one for one in lab.events.values() if one["type"] == "PolicyEvaluated"]
    assert [(one["payload"]["effect"], one["actor"]) for one in evaluated] == [
        ("deny", "operator"),
        ("deny", "resumer"),
        ("allow", "resumer"),
    ]
    assert lab.event_types().count("RunResumed") == 2
    assert lab.tasks["day-mix"].status.dispatches[0].requested_by == "resumer"


def test_quarantine_makes_acting_work_wait_and_lets_observing_work_through() -> None:
    lab = _stranded()
    lab.capabilities = [mix_capability(), weigh_capability(instrumentType="mixer")]
    lab.advance(2)

    lab.submit("again", MIX)
    lab.submit("look", WEIGH)
    lab.advance(3)

    assert lab.task_state("again-mix")[0] is TaskState.WAITING_FOR_RESOURCES
    assert lab.run_state("look")[0] is RunState.COMPLETED
    assert lab.instruments["mixer-1"].status.held_by == "night-mix"
    assert lab.event_types().count("TaskWaitingForResources") == 1


def _with_two_mixers() -> FakeLab:
    setups = [
        InstrumentSetup(name=name, type=kind, latency_s=1.0)
        for name, kind in (("mixer-1", "mixer"), ("mixer-2", "mixer"), ("balance-1", "balance"))
    ]
    lab = FakeLab()
    lab.rack = Rack(setups)
    second = {"metadata": {"name": "mixer-2", "resourceVersion": "1"}, "spec": {"type": "mixer"}}
    lab.instruments["mixer-2"] = Instrument.of(second)
    return lab


def test_a_step_that_names_an_instrument_gets_that_one() -> None:
    lab = _with_two_mixers()
    lab.submit("day", {**MIX, "instrument": "mixer-2"})

    lab.advance(5)

    assert lab.tasks["day-mix"].status.dispatches[0].instrument == "mixer-2"
    assert lab.run_state("day")[0] is RunState.COMPLETED


def test_a_step_waits_for_the_instrument_that_it_names_though_another_is_free() -> None:
    lab = _with_two_mixers()
    lab.submit("night", {**MIX, "instrument": "mixer-2"})
    lab.advance(0.1)

    lab.submit("day", {**MIX, "instrument": "mixer-2"})
    lab.advance(0.1)

    assert lab.task_state("day-mix")[0] is TaskState.WAITING_FOR_RESOURCES
    assert lab.tasks["day-mix"].status.message == (
        "no instrument of type 'mixer' named 'mixer-2' is free"
    )
    lab.advance(5)
    assert lab.tasks["day-mix"].status.dispatches[0].instrument == "mixer-2"


def test_a_step_that_names_an_instrument_which_is_gone_fails() -> None:
    lab = FakeLab()
    lab.submit("day", {**MIX, "instrument": "mixer-9"})

    lab.advance(1)

    assert lab.run_state("day") == (RunState.FAILED, "no_instrument")
    assert "no instrument of type 'mixer' named 'mixer-9'" in lab.runs["day"].status.message


def test_who_asks_about_one_instrument_gets_in_line_behind_its_work_and_takes_no_place() -> None:
    lab = FakeLab(latency_s=5.0)
    lab.capabilities = [mix_capability(), weigh_capability(instrumentType="mixer")]
    lab.submit("day", MIX)
    lab.advance(0.5)

    lab.submit("ask", {**WEIGH, "instrument": "mixer-1"})
    lab.submit("other", WEIGH)
    lab.advance(0.5)

    ask = lab.tasks["ask-weigh"].status
    assert (ask.state, ask.dispatches[0].instrument) == (TaskState.RUNNING, "mixer-1")
    assert lab.task_state("other-weigh")[0] is TaskState.WAITING_FOR_RESOURCES
    assert lab.instruments["mixer-1"].status.held_by == "day-mix"
    assert ask.dispatches[0].fencing_token > lab.tasks["day-mix"].status.dispatches[0].fencing_token
    lab.advance(30)
    assert {lab.run_state(one)[0] for one in ("day", "ask", "other")} == {RunState.COMPLETED}


@pytest.mark.parametrize(
    "kind", ["LabRun", "LabTask", "Instrument", "Capability", "LabEvent", "Note"]
)
def test_an_attestation_rests_on_what_is_there(kind: str) -> None:
    lab = _stranded()
    lab.notes.add("seen")
    names = {
        "LabRun": "night",
        "LabTask": "night-mix",
        "Instrument": "mixer-1",
        "Capability": "sim.mix-color",
        "LabEvent": next(iter(lab.events)),
        "Note": "seen",
    }

    lab.attest("night-mix", "completed", evidence={kind: names[kind]})
    lab.settle()

    assert lab.attestations["night-mix-1"].status.accepted is True


@pytest.mark.parametrize("kind", ["LabRun", "LabEvent", "Note", "Secret"])
def test_an_attestation_that_rests_on_nothing_is_refused_once_nothing_can_be_on_its_way(
    kind: str,
) -> None:
    lab = _stranded()

    lab.attest("night-mix", "completed", evidence={kind: "nothing"})
    lab.advance(1)
    early = lab.attestations["night-mix-1"].status.accepted
    lab.advance(3)

    assert early is None
    assert lab.attestations["night-mix-1"].status.accepted is False
    assert kind in lab.attestations["night-mix-1"].status.reason
    assert lab.task_state("night-mix")[0] is TaskState.INTERVENTION_REQUIRED


def test_evidence_that_the_watch_tells_of_late_counts() -> None:
    lab = _stranded()
    lab.attest("night-mix", "completed", evidence={"Note": "seen"})
    lab.settle()

    lab.notes.add("seen")
    lab.settle()

    assert lab.attestations["night-mix-1"].status.accepted is True


def test_an_attestation_that_rests_on_what_came_after_it_is_refused() -> None:
    lab = _stranded()
    lab.attest("night-mix", "completed", evidence={"LabRun": "later"})
    lab.now += timedelta(seconds=1)

    lab.submit("later", WEIGH)
    lab.settle()

    assert lab.attestations["night-mix-1"].status.reason == (
        "evidence LabRun 'later' is younger than the attestation"
    )


@pytest.mark.parametrize(
    ("by", "separate", "accepted"),
    [
        ("operator", True, False),
        ("operator", False, True),
        ("colleague", True, True),
    ],
)
def test_where_duties_are_separated_who_asked_for_a_call_does_not_settle_it(
    by: str, *, separate: bool, accepted: bool
) -> None:
    lab = _stranded()
    lab.policies = [policy(ALLOW, separationOfDuties=separate)]

    lab.attest("night-mix", "completed", by=by)
    lab.settle()

    status = lab.attestations["night-mix-1"].status
    assert status.accepted is accepted
    assert accepted or status.reason == (
        "operator asked for the call; the policy wants somebody else's word"
    )


def test_waiting_for_an_instrument_has_a_bound() -> None:
    lab = _stranded()
    lab.submit("again", MIX)

    lab.advance(121)

    assert lab.run_state("again") == (RunState.FAILED, "no_instrument")


def test_nothing_is_sent_while_answers_are_not_heard() -> None:
    lab = FakeLab()
    lab.facts = type(lab.facts)(listening=False)
    lab.submit("day", MIX)

    lab.advance(2)

    assert lab.task_state("day-mix")[0] is TaskState.WAITING_FOR_RESOURCES
    assert lab.journal == []


def test_a_type_of_instrument_that_is_not_there_fails_at_once() -> None:
    lab = FakeLab()
    del lab.instruments["mixer-1"]
    lab.submit("day", MIX)

    lab.advance(0.1)

    assert lab.run_state("day") == (RunState.FAILED, "no_instrument")


def test_a_capability_that_changed_since_admission_is_asked_once_more() -> None:
    lab = FakeLab()
    lab.capabilities = []
    lab.submit("day", MIX)

    lab.advance(0.1)

    assert lab.run_state("day") == (RunState.FAILED, "invalid_inputs")


@pytest.mark.parametrize(
    ("finding", "state", "reason"),
    [
        ("completed", TaskState.SUCCEEDED, "attested"),
        ("did_not_occur", TaskState.FAILED, "attested"),
        ("abandoned", TaskState.CANCELLED, "attested"),
    ],
)
def test_an_attestation_settles_the_task_and_the_run_is_failed(
    finding: str, state: TaskState, reason: str
) -> None:
    lab = _stranded()
    lab.advance(2)

    lab.attest("night-mix", finding)
    lab.settle()

    assert lab.task_state("night-mix") == (state, reason)
    assert lab.tasks["night-mix"].status.outputs == {}
    assert lab.tasks["night-mix"].status.attestation == "night-mix-1"
    assert lab.run_state("night") == (RunState.FAILED, "intervention_resolved")
    assert lab.attestations["night-mix-1"].status.accepted is True
    assert lab.event("TaskAttested")["actor"] == "attester"
    assert lab.event("TaskAttested")["payload"]["attestation"]["finding"] == finding
    assert lab.event("RunInterventionResolved")["actor"] == "attester"
    assert lab.instruments["mixer-1"].status.quarantined is False


def test_of_two_attestations_the_first_counts() -> None:
    lab = _stranded()

    lab.attest("night-mix", "completed", n=2, by="first")
    lab.attest("night-mix", "abandoned", n=1, by="second")
    lab.settle()

    assert lab.attestations["night-mix-2"].status.accepted is True
    assert lab.attestations["night-mix-1"].status.accepted is False
    assert lab.task_state("night-mix")[0] is TaskState.SUCCEEDED
    assert lab.event("TaskAttested")["actor"] == "first"


def test_attested_as_not_done_a_step_is_dispatched_again_by_whoever_resumes() -> None:
    lab = _stranded()
    lab.advance(2)
    lab.attest("night-mix", "did_not_occur")
    lab.settle()

    lab.edit("night", resume_count=1, resumed_by="resumer")
    lab.advance(3)

    assert lab.run_state("night")[0] is RunState.COMPLETED
    calls = lab.tasks["night-mix"].status.dispatches
    assert [(call.n, call.requested_by) for call in calls] == [(1, "operator"), (2, "resumer")]
    assert calls[0].request_id != calls[1].request_id


def test_attested_as_done_a_step_is_skipped_on_resume() -> None:
    lab = _stranded()
    lab.advance(2)
    lab.attest("night-mix", "completed")
    lab.settle()

    lab.edit("night", resume_count=1, resumed_by="resumer")
    lab.advance(3)

    assert lab.run_state("night")[0] is RunState.COMPLETED
    assert len(lab.tasks["night-mix"].status.dispatches) == 1


def test_superseding_is_an_event_of_the_old_run_and_leaves_it_alone() -> None:
    lab = _stranded()

    lab.submit("fresh", WEIGH, supersedes="night")
    lab.settle()

    assert lab.event("RunSuperseded")["run"] == "night"
    assert lab.event("RunSuperseded")["payload"] == {"run": "fresh"}
    assert lab.run_state("night")[0] is RunState.INTERVENTION_REQUIRED


def test_two_tasks_never_hold_one_instrument() -> None:
    lab = FakeLab()
    lab.submit("one", MIX)
    lab.submit("two", MIX)

    lab.advance(0.5)
    holder = lab.instruments["mixer-1"].status.held_by
    lab.advance(4)

    assert holder == "one-mix"
    assert lab.run_state("two")[0] is RunState.COMPLETED
    assert [call.fencing_token for call in lab.tasks["two-mix"].status.dispatches] == [2]


def test_conditions_follow_the_state() -> None:
    lab = _stranded()

    conditions = {one["type"]: one["status"] for one in lab.runs["night"].status.conditions}

    assert conditions == {"Completed": "False", "Failed": "False", "InterventionRequired": "True"}


def test_a_spec_that_changed_is_acknowledged() -> None:
    lab = FakeLab()
    lab.submit("day", MIX)
    lab.advance(3)

    lab.edit("day")
    lab.settle()

    run = lab.runs["day"]
    assert run.status.observed_generation == run.metadata.generation == 2
    assert {one["observedGeneration"] for one in run.status.conditions} == {2}


_SIDE = {**WEIGH, "id": "side"}
_LAST = {**WEIGH, "id": "last"}

#: One after the other, and side by side.
_PLANS = [[MIX, WEIGH], [WEIGH, MIX], [MIX, _SIDE, {**_LAST, "needs": ["mix", "side"]}]]

_DEEDS = st.lists(
    st.one_of(
        st.tuples(st.just("submit"), st.sampled_from(_PLANS)),
        st.tuples(st.just("cancel"), st.integers(0, 5)),
        st.tuples(st.just("advance"), st.sampled_from([0.05, 0.3, 2.0, 12.0])),
        st.tuples(st.just("restart"), st.none()),
        st.tuples(st.just("attest"), st.sampled_from(["completed", "did_not_occur", "abandoned"])),
        st.tuples(st.just("resume"), st.integers(0, 5)),
        st.tuples(st.just("crash"), st.sampled_from([Send, WriteStatus])),
        st.tuples(st.just("link"), st.booleans()),
    ),
    min_size=6,
    max_size=20,
)


def _cancel(lab: FakeLab, name: str) -> None:
    if lab.runs[name].status.state in {"planned", "queued", "running"}:
        lab.edit(name, cancel_requested=True, cancel_requested_by="canceller")


def _resume(lab: FakeLab, name: str) -> None:
    run = lab.runs[name]
    mine = [task.status.state for task in lab.tasks.values() if task.spec.run == name]
    if run.status.state is RunState.FAILED and TaskState.CANCELLED not in mine:
        lab.edit(name, resume_count=run.spec.resume_count + 1, resumed_by="resumer")


def _attest(lab: FakeLab, finding: str, number: int) -> None:
    for task in lab.tasks.values():
        if task.status.state is TaskState.INTERVENTION_REQUIRED:
            lab.attest(task.name, finding, n=number + 1)


def _apply(lab: FakeLab, deed: str, value: Any, number: int) -> None:
    names = sorted(lab.runs)
    match deed:
        case "submit":
            lab.submit(f"run-{number}", *value)
        case "cancel" if names:
            _cancel(lab, names[value % len(names)])
        case "resume" if names:
            _resume(lab, names[value % len(names)])
        case "advance":
            lab.advance(value)
        case "restart":
            lab.restart_controller()
        case "attest":
            _attest(lab, value, number)
        case "crash":
            lab.crash_before = value
        case "link":
            lab.link_down = value
        case _:
            pass


_MOVING = {RunState.PLANNED, RunState.QUEUED, RunState.RUNNING, RunState.ABORTING}


@settings(max_examples=50)
@given(_DEEDS, st.sampled_from([0, 1]))
def test_whatever_happens_it_comes_to_rest_and_nothing_acts_twice(
    deeds: list[tuple[str, Any]], max_retries: int
) -> None:
    lab = FakeLab()
    lab.capabilities = [mix_capability(), weigh_capability(maxRetries=max_retries)]
    lab.submit("first", *_PLANS[0])
    lab.advance(0.3)

    for number, (deed, value) in enumerate(deeds):
        _apply(lab, deed, value, number)
    lab.advance(2000)

    assert reconcile(lab.observed(), lab.now) == ()
    assert not [run.name for run in lab.runs.values() if run.status.state in _MOVING]
    accepted = [one["requestId"] for one in lab.journal if one["event"] == "accepted"]
    assert len(accepted) == len(set(accepted))
    assert not [one for one in lab.journal if one["event"] in {"stale", "duplicate"}]
    for task in lab.tasks.values():
        stranded = task.status.state is TaskState.INTERVENTION_REQUIRED
        acting = [call for call in task.status.dispatches if call.answered_at is None]
        if stranded:
            name = acting[-1].instrument
            assert lab.instruments[name].status.quarantined
    evaluated = lab.event_types().count("PolicyEvaluated")
    assert evaluated >= sum(len(task.status.dispatches) for task in lab.tasks.values())
