"""A run from its creation to its end, with the real API server and real processes."""

from __future__ import annotations

import pytest

from harness.core.waiting import SYSTEM_CLOCK, wait_until
from harness.kube.resources import ATTESTATIONS, LAB_RUNS, LAB_TASKS
from tests.integration.lab.bench import MIX, MOVE, WEIGH
from tests.integration.lab.laboratory import Lab


def strand(lab: Lab, name: str = "night") -> None:
    """Reach the broken state by acting: dispatch, then drop the wait."""
    lab.submit(lab.previous, name, MIX)
    wait_until(lambda: lab.journal("started"), bool, what="the mixer", timeout_s=15)
    assert lab.patch_run(lab.previous, name, cancelRequested=True).status == 200
    lab.wait_run(name, "intervention_required")


def test_a_run_goes_from_planned_to_completed_and_every_move_is_an_event(lab: Lab) -> None:
    lab.submit(lab.agent, "day", MIX, WEIGH)

    lab.wait_run("day", "completed")

    run = lab.admin.get(LAB_RUNS, "day", namespace=lab.namespace)
    assert run["spec"]["operator"] == lab.user("agent")
    states = [moved["state"] for moved in run["status"]["history"]]
    assert states == ["queued", "running", "completed"]
    conditions = {one["type"]: one["status"] for one in run["status"]["conditions"]}
    assert conditions == {"Completed": "True", "Failed": "False", "InterventionRequired": "False"}
    assert lab.task("day-weigh")["status"]["outputs"]["mass_g"] == 5.0
    lab.wait_event("RunCompleted")
    kinds = {one["type"] for one in lab.events()}
    assert {"RunCreated", "RunStarted", "PolicyEvaluated", "TaskStarted", "TaskSucceeded"} <= kinds
    assert {one["actor"] for one in lab.events()} == {lab.user("agent")}
    dispatch = lab.task("day-mix")["status"]["dispatches"][0]
    assert dispatch["requestId"] == f"{lab.task('day-mix')['metadata']['uid']}-1"
    assert dispatch["answeredAt"] > dispatch["sentAt"]


def test_dispatch_follows_creation_within_half_a_second_on_a_busy_machine(lab: Lab) -> None:
    seconds = []

    for number in range(7):
        before = SYSTEM_CLOCK.now()
        lab.submit(lab.agent, f"quick-{number}", {**WEIGH, "inputs": {"sample_id": "none"}})
        task = lab.wait_dispatched(f"quick-{number}-weigh")
        sent_at = task["status"]["dispatches"][0]["sentAt"].replace("Z", "+00:00")
        seconds.append((type(before).fromisoformat(sent_at) - before).total_seconds())

    print(sorted(seconds))  # noqa: T201 - shown on failure
    assert sorted(seconds)[3] < 0.5


def test_a_dropped_wait_strands_the_task_and_keeps_the_mixer_in_quarantine(lab: Lab) -> None:
    strand(lab)

    assert lab.state(LAB_RUNS, "night") == ("intervention_required", "execution_cancelled")
    assert lab.state(LAB_TASKS, "night-mix") == ("intervention_required", "execution_cancelled")
    wait_until(
        lambda: lab.instrument("mixer-1"),
        lambda seen: seen["quarantined"] and seen["heldBy"] == "night-mix",
        what="quarantine",
        timeout_s=5,
    )


def test_quarantine_stops_what_acts_and_not_what_observes(lab: Lab) -> None:
    strand(lab)
    lab.wait_idle()

    lab.submit(lab.agent, "again", MIX)
    lab.submit(lab.agent, "look", WEIGH)

    lab.wait_run("look", "completed")
    lab.wait_task("again-mix", lambda one: one["status"].get("state") == "waiting_for_resources")
    assert lab.task("look-weigh")["status"]["outputs"]["mass_g"] == 5.0
    assert len(lab.journal("accepted")) == 2


def test_a_late_answer_becomes_an_event_and_settles_nothing(lab: Lab) -> None:
    strand(lab)

    late = lab.wait_event("LateAnswer")

    assert len(late) == 1
    assert late[0]["payload"]["outcome"] == "succeeded"
    assert late[0]["payload"]["requestId"] == lab.journal("finished")[0]["requestId"]
    assert lab.state(LAB_TASKS, "night-mix")[0] == "intervention_required"


def test_attested_then_resumed_a_run_completes_and_only_the_first_attestation_counts(
    lab: Lab,
) -> None:
    strand(lab)
    lab.wait_idle()

    first = lab.attest(lab.agent, "night-mix-1")
    lab.wait_run("night", "failed")
    second = lab.attest(lab.agent, "night-mix-2")
    resumed = lab.patch_run(lab.agent, "night", resumeCount=1)
    lab.wait_run("night", "completed")

    assert first.status == 201
    assert first.body["spec"]["attestedBy"] == lab.user("agent")
    assert second.status == 403
    assert "is in 'failed'; only a task in 'intervention_required'" in second.message
    assert resumed.body["spec"]["resumedBy"] == lab.user("agent")
    decided = lab.admin.get(ATTESTATIONS, "night-mix-1", namespace=lab.namespace)
    assert decided["status"]["accepted"] is True
    attested = lab.wait_event("TaskAttested")
    assert attested[0]["actor"] == lab.user("agent")
    assert attested[0]["payload"]["attestation"]["basis"] == "the balance read 0 g"
    assert [one["actor"] for one in lab.events("RunInterventionResolved")] == [lab.user("agent")]
    calls = lab.task("night-mix")["status"]["dispatches"]
    assert [call["requestedBy"] for call in calls] == [
        lab.user("previous-operator"),
        lab.user("agent"),
    ]
    assert lab.instrument("mixer-1")["quarantined"] is False


def test_an_abandoned_task_forbids_resuming_and_superseding_is_the_way(lab: Lab) -> None:
    strand(lab)
    lab.wait_idle()
    lab.attest(lab.agent, "night-mix-1", "abandoned")
    lab.wait_run("night", "failed")

    resumed = lab.patch_run(lab.agent, "night", resumeCount=1)
    lab.submit(lab.agent, "night-two", MIX, supersedes="night")
    lab.wait_run("night-two", "completed")

    assert resumed.status == 403
    assert "supersede it instead" in resumed.message
    assert lab.wait_event("RunSuperseded")[0]["run"] == "night"


def test_what_policy_denies_fails_the_run_and_is_on_record(lab: Lab) -> None:
    asked = lab.try_run(lab.agent, lab.run("ask", MOVE), dry_run=True)
    tried = lab.try_run(lab.agent, lab.run("move", MOVE))
    lab.wait_run("move", "failed")

    assert asked.status == 201
    assert asked.warnings == (
        "sim.move_labware would be denied by rule lab/robot: robot under maintenance",
    )
    assert tried.warnings == asked.warnings
    assert lab.state(LAB_TASKS, "move-move") == ("failed", "policy_denied")
    evaluated = lab.wait_event("PolicyEvaluated")
    assert evaluated[0]["payload"] == {
        "capability": "sim.move_labware",
        "effect": "deny",
        "rule": "lab/robot",
        "reason": "robot under maintenance",
    }
    assert evaluated[0]["actor"] == lab.user("agent")
    assert lab.journal("accepted") == []


def test_cancelling_an_observing_run_aborts_it_and_nothing_is_stranded(lab: Lab) -> None:
    lab.submit(lab.agent, "day", MIX)
    lab.wait_run("day", "completed")
    lab.submit(lab.previous, "night", {**MIX, "inputs": {**MIX["inputs"], "sample_id": "s2"}})
    lab.wait_dispatched("night-mix")
    lab.submit(lab.agent, "wait", {**MIX, "inputs": {**MIX["inputs"], "sample_id": "s3"}})
    lab.wait_task("wait-mix", lambda one: one["status"].get("state") == "waiting_for_resources")

    cancelled = lab.patch_run(lab.agent, "wait", cancelRequested=True)
    lab.wait_run("wait", "aborted")

    assert cancelled.body["spec"]["cancelRequestedBy"] == lab.user("agent")
    assert lab.state(LAB_TASKS, "wait-mix")[0] == "cancelled"
    lab.wait_run("night", "completed")


@pytest.mark.parametrize("point", ["before_send", "after_send", "after_answer", "before_record"])
def test_a_controller_killed_at_a_named_point_leaves_its_call_stranded(
    bare_lab: Lab, point: str
) -> None:
    bare_lab.start_controller(pause_at=point)
    bare_lab.submit(bare_lab.previous, "night", MIX)
    facts = bare_lab.wait_paused(point)

    bare_lab.crash_controller()
    bare_lab.start_controller()

    expected = ("intervention_required", "controller_restarted")
    assert bare_lab.wait_run("night", "intervention_required") == expected
    assert bare_lab.state(LAB_TASKS, "night-mix") == expected
    assert bare_lab.wait_event("TaskRecoveryRequired")
    assert bare_lab.wait_event("RunRecoveryRequired")
    bare_lab.wait_idle()
    (call,) = bare_lab.task("night-mix")["status"]["dispatches"]
    about = {"requestId": call["requestId"], "task": "night-mix", "instrument": "mixer-1"}
    assert facts == about
    assert [entry["fencingToken"] for entry in bare_lab.journal("fenced")] == [call["fencingToken"]]
    sent = 0 if point == "before_send" else 1
    assert len(bare_lab.journal("accepted")) == sent
    assert len(bare_lab.journal("finished")) == sent
    assert bare_lab.journal("stopped") == []
