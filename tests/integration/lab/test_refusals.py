"""What the API server refuses with webhook and definitions in place, and what it lets by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.kube.client import KubeClient
from harness.kube.resources import ATTESTATIONS, LAB_RUNS, LAB_TASKS, NAMESPACES
from tests.integration.lab.bench import MIX
from tests.integration.lab.laboratory import Lab

MERGE = "application/merge-patch+json"


@pytest.fixture
def quiet(bare_lab: Lab) -> Lab:
    """A laboratory in which no controller works: states are reached by writing them."""
    return bare_lab


def _strand_by_hand(lab: Lab, name: str) -> str:
    """Reach intervention_required by legal writes; return the task's name."""
    lab.submit(lab.previous, name, MIX)
    uid = lab.admin.get(LAB_RUNS, name, namespace=lab.namespace)["metadata"]["uid"]
    task = {
        "apiVersion": LAB_TASKS.api_version,
        "kind": "LabTask",
        "metadata": {"name": f"{name}-mix"},
        "spec": {"run": name, "runUid": uid, "step": "mix", "capability": "sim.mix_color"},
    }
    lab.admin.create(LAB_TASKS, task, namespace=lab.namespace)
    for resource, one in ((LAB_RUNS, name), (LAB_TASKS, f"{name}-mix")):
        for state in ("running", "intervention_required"):
            _write_state(lab.admin, resource.path(lab.namespace, one), state)
    return f"{name}-mix"


def _write_state(client: KubeClient, path: str, state: str) -> None:
    body = {"status": {"state": state}}
    client.call("PATCH", f"{path}/status", body=body, content_type=MERGE)


def test_a_stamp_is_the_webhooks_whatever_was_sent(quiet: Lab) -> None:
    created = quiet.try_run(quiet.agent, quiet.run("forged", MIX, operator="somebody-else"))
    patched = quiet.patch_run(quiet.agent, "forged", operator="x", resumedBy="y")

    assert created.status == 201
    assert created.body["spec"]["operator"] == quiet.user("agent")
    assert patched.status == 200
    assert patched.body["spec"]["operator"] == quiet.user("agent")
    assert patched.body["spec"]["resumedBy"] == ""


def test_a_file_without_stamps_replaces_the_run_that_has_them(quiet: Lab) -> None:
    made = quiet.try_run(quiet.agent, quiet.run("day", MIX)).body
    path = LAB_RUNS.path(quiet.namespace, "day")
    version = {"resourceVersion": made["metadata"]["resourceVersion"]}
    manifest = quiet.run("day", MIX)

    replaced = quiet.agent.ask(
        "PUT", path, body={**manifest, "metadata": {"name": "day", **version}}
    )

    assert replaced.status == 200
    assert replaced.body["spec"]["operator"] == quiet.user("agent")


def test_the_canceller_is_stamped_and_a_cancellation_cannot_be_taken_back(quiet: Lab) -> None:
    quiet.submit(quiet.previous, "day", MIX)

    cancelled = quiet.patch_run(quiet.agent, "day", cancelRequested=True, cancelRequestedBy="x")
    back = quiet.patch_run(quiet.agent, "day", cancelRequested=False)

    assert cancelled.body["spec"]["cancelRequestedBy"] == quiet.user("agent")
    assert back.status in {403, 422}


def test_a_status_sent_at_creation_is_refused_and_said_whose_it_is(quiet: Lab) -> None:
    manifest = {**quiet.run("sly", MIX), "status": {"state": "completed"}}

    answer = quiet.try_run(quiet.agent, manifest)

    assert answer.status == 403
    assert 'admission webhook "mutate.lab.strandline.dev" denied the request' in answer.message
    assert "only the controller writes status" in answer.message


def test_an_unknown_capability_is_refused_with_those_that_exist(quiet: Lab) -> None:
    answer = quiet.try_run(quiet.agent, quiet.run("odd", {"id": "a", "capability": "sim.brew"}))

    assert answer.status == 403
    assert "'sim.brew' does not exist" in answer.message
    assert "sim.mix_color" in answer.message


def test_inputs_that_do_not_fit_are_refused_with_name_and_unit(quiet: Lab) -> None:
    inputs = {**MIX["inputs"], "total_mass_g": "much"}

    answer = quiet.try_run(quiet.agent, quiet.run("odd", {**MIX, "inputs": inputs}))

    assert answer.status == 422
    assert "input total_mass_g is 'much', expected number in g" in answer.message


def test_an_unsettled_run_cannot_be_deleted_but_by_the_harness(quiet: Lab) -> None:
    _strand_by_hand(quiet, "night")
    path = LAB_RUNS.path(quiet.namespace, "night")

    refused = quiet.agent.ask("DELETE", path)
    admitted = quiet.role("harness").ask("DELETE", path)

    assert refused.status == 403
    assert "task 'night-mix' is in 'intervention_required'" in refused.message
    assert admitted.status == 200


def test_a_settled_run_can_be_deleted(quiet: Lab) -> None:
    quiet.submit(quiet.agent, "day", MIX)

    answer = quiet.agent.ask("DELETE", LAB_RUNS.path(quiet.namespace, "day"))

    assert answer.status == 200


def test_a_namespace_with_an_unsettled_run_goes_away(quiet: Lab) -> None:
    _strand_by_hand(quiet, "night")

    deleted = quiet.admin.delete(NAMESPACES, quiet.namespace)
    quiet.wait_run("night", "absent", timeout_s=30)

    assert deleted


def test_a_run_is_resumed_only_from_failed_and_with_nothing_unsettled(quiet: Lab) -> None:
    task = _strand_by_hand(quiet, "night")

    early = quiet.patch_run(quiet.agent, "night", resumeCount=1)
    _write_state(quiet.admin, LAB_RUNS.path(quiet.namespace, "night"), "failed")
    unsettled = quiet.patch_run(quiet.agent, "night", resumeCount=1)
    _write_state(quiet.admin, LAB_TASKS.path(quiet.namespace, task), "failed")
    twice = quiet.patch_run(quiet.agent, "night", resumeCount=2)
    once = quiet.patch_run(quiet.agent, "night", resumeCount=1)

    assert early.status == 403
    assert "attest its unsettled tasks first" in early.message
    assert unsettled.status == 403
    assert "supersede it instead" in unsettled.message
    assert twice.status in {403, 422}
    assert once.status == 200
    assert once.body["spec"]["resumedBy"] == quiet.user("agent")


def test_an_attestation_needs_a_task_in_intervention_a_basis_and_its_name(quiet: Lab) -> None:
    task = _strand_by_hand(quiet, "night")
    path = ATTESTATIONS.path(quiet.namespace)

    def attest(name: str, **spec: Any) -> Any:
        manifest = {
            "apiVersion": ATTESTATIONS.api_version,
            "kind": "Attestation",
            "metadata": {"name": name},
            "spec": {"task": task, "finding": "completed", "basis": "looked", **spec},
        }
        return quiet.agent.ask("POST", path, body=manifest)

    misnamed = attest("mine")
    blank = attest(f"{task}-1", basis="  \n")
    unknown = attest(f"{task}-1", finding="maybe")
    nowhere = attest("no-such-1", task="no-such")
    good = attest(f"{task}-1", attestedBy="somebody-else")
    again = attest(f"{task}-1")

    assert [one.status for one in (misnamed, blank, unknown, nowhere)] == [422, 422, 422, 403]
    assert good.status == 201
    assert good.body["spec"]["attestedBy"] == quiet.user("agent")
    assert again.status == 409


def test_two_runs_cannot_give_two_tasks_one_name(quiet: Lab) -> None:
    quiet.submit(quiet.agent, "a", {**MIX, "id": "b-c"})

    answer = quiet.try_run(quiet.agent, quiet.run("a-b", {**MIX, "id": "c"}))

    assert answer.status == 422
    assert "its task would be named 'a-b-c', which run 'a' has" in answer.message


def test_what_was_asked_never_changes(quiet: Lab) -> None:
    quiet.submit(quiet.agent, "day", MIX)

    steps = quiet.patch_run(quiet.agent, "day", steps=[{**MIX, "inputs": {}}])
    environment = quiet.patch_run(quiet.agent, "day", environment="real")
    removed = quiet.agent.ask(
        "PATCH", LAB_RUNS.path(quiet.namespace, "day"), body={"spec": None}, content_type=MERGE
    )

    assert [one.status for one in (steps, environment, removed)] == [422, 422, 422]
    assert "steps never change" in steps.message


def test_no_token_is_in_an_argument_an_environment_or_a_log(lab: Lab, tmp_path: Path) -> None:
    lab.submit(lab.agent, "day", MIX)
    lab.wait_run("day", "completed")
    secrets = ("c-token", "h-token", "Bearer ", "eyJ")

    seen = [path.read_bytes() for path in tmp_path.glob("*.log")]
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
            if b"harness.lab" in command:
                seen += [command, (entry / "environ").read_bytes()]
        except OSError:
            continue

    assert len(seen) >= 4
    assert [secret for secret in secrets for text in seen if secret.encode() in text] == []
