"""What takes somebody else's decision, what is written for others, and what a statement rests on.

With the real API server, the real webhook and the real controller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from harness.cluster.provider import Cluster
from harness.core.waiting import SYSTEM_CLOCK, wait_until
from harness.kube.answers import Answer
from harness.kube.client import MERGE_PATCH, KubeClient
from harness.kube.resources import (
    APPROVALS,
    ATTESTATIONS,
    LAB_POLICIES,
    LAB_RUNS,
    NOTES,
    ROLE_BINDINGS,
    Resource,
)
from tests.integration.lab.bench import BALANCE, MIX, MIXER, WEIGH
from tests.integration.lab.laboratory import Lab

#: Mixing by the agent takes an approval; everybody else just mixes.
ASK = {
    "id": "ask",
    "effect": "require_approval",
    "capability": "sim.mix_color",
    "operators": ["*:agent"],
    "reason": "the supervisor decides",
}


def _put(lab: Lab, who: KubeClient, resource: Resource, name: str, **spec: Any) -> Answer:
    manifest = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": name},
        "spec": spec,
    }
    return who.ask("POST", resource.path(lab.namespace), body=manifest)


def _approve(lab: Lab, who: KubeClient, name: str, *, seconds: float = 60, **spec: Any) -> Answer:
    ends_at = (SYSTEM_CLOCK.now() + timedelta(seconds=seconds)).isoformat()
    granted = {"run": "day", "decision": "granted", "expiresAt": ends_at}
    return _put(lab, who, APPROVALS, name, **{**granted, **spec})


def _wait_task(lab: Lab, name: str, state: str) -> Mapping[str, Any]:
    found = lab.wait_task(name, lambda one: one["status"].get("state") == state)
    return dict(found["status"])


def _mix_with(mixer: str) -> dict[str, Any]:
    return {**MIX, "instrument": mixer}


def _strand(lab: Lab, name: str, mixer: str) -> None:
    lab.submit(lab.previous, name, _mix_with(mixer))
    call = lab.wait_dispatched(f"{name}-mix")["status"]["dispatches"][0]
    wait_until(
        lambda: [one["requestId"] for one in lab.journal("started")],
        lambda seen: call["requestId"] in seen,
        what=mixer,
        timeout_s=15,
    )
    assert lab.patch_run(lab.previous, name, cancelRequested=True).status == 200
    lab.wait_run(name, "intervention_required")


@pytest.fixture(scope="module")
def ruled(
    cluster: Cluster, registered: KubeClient, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lab]:
    """A laboratory in which the agent mixes with an approval only, and two mixers are stranded.

    One for each test that needs one; the third is free.
    """
    lab = Lab(cluster, registered, tmp_path_factory.mktemp("ruled"))
    mixers = [{**MIXER, "name": f"mixer-{number}"} for number in (1, 2, 3)]
    try:
        lab.furnish([*mixers, BALANCE], [ASK, {"id": "everything", "effect": "allow"}])
        lab.start_instruments()
        lab.start_controller()
        _strand(lab, "night", "mixer-1")
        _strand(lab, "late", "mixer-2")
        yield lab
    finally:
        lab.end()


def test_an_approval_is_somebody_elses_is_in_time_and_never_changes(ruled: Lab) -> None:
    lab, approver = ruled, ruled.role("approver")
    lab.submit(lab.agent, "day", _mix_with("mixer-3"))
    _wait_task(lab, "day-mix", "waiting_for_authorization")
    lab.admin.create(
        ROLE_BINDINGS,
        {
            "apiVersion": ROLE_BINDINGS.api_version,
            "kind": "RoleBinding",
            "metadata": {"name": "agent-approves"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "strandline:approves",
            },
            "subjects": [{"kind": "ServiceAccount", "name": "agent", "namespace": lab.namespace}],
        },
        namespace=lab.namespace,
    )

    asked = lab.try_run(lab.agent, lab.run("ask", MIX), dry_run=True)
    by_rbac = _approve(lab, lab.previous, "a")
    own = wait_until(
        lambda: _approve(lab, lab.agent, "b"),
        lambda answer: "cannot create resource" not in answer.message,
        what="the agent's right to approve",
        timeout_s=5,
    )
    endless = _approve(lab, approver, "c", expiresAt=None)
    past = _approve(lab, approver, "d", seconds=-1)
    nowhere = _approve(lab, approver, "e", run="never")
    granted = _approve(lab, approver, "yes", approvedBy="x", runUid="y", decidedAt=None)
    changed = lab.admin.ask(
        "PATCH",
        APPROVALS.path(lab.namespace, "yes"),
        body={"spec": {"decision": "refused"}},
        content_type=MERGE_PATCH,
    )
    lab.wait_run("day", "completed")

    assert asked.warnings == (
        "sim.mix_color would wait for an approval by rule lab/ask: the supervisor decides",
    )
    statuses = [one.status for one in (by_rbac, own, endless, past, nowhere, granted, changed)]
    assert statuses == [403, 403, 422, 422, 403, 201, 422]
    assert "cannot decide about it; an approval is somebody else's" in own.message
    assert "a grant says when it ends" in endless.message
    assert "is past, expected a time after" in past.message
    assert "a decision is about a run that is there" in nowhere.message
    assert granted.body["spec"]["approvedBy"] == lab.user("approver")
    assert granted.body["spec"]["runUid"] not in ("", "y")
    assert granted.warnings == ()
    wait_until(
        lambda: {(one["run"], one["type"], one["actor"]) for one in lab.events()},
        lambda seen: (
            {
                ("day", "ApprovalRequested", lab.user("agent")),
                ("day", "ApprovalDecided", lab.user("approver")),
            }
            <= seen
        ),
        what="events of the approval",
        timeout_s=10,
    )


def test_a_grant_that_ends_while_the_equipment_is_busy_fails_and_a_new_round_asks_again(
    ruled: Lab,
) -> None:
    lab = ruled
    lab.submit(lab.agent, "evening", _mix_with("mixer-2"))
    _wait_task(lab, "evening-mix", "waiting_for_authorization")
    approver = lab.role("approver")

    _approve(lab, approver, "short", run="evening", seconds=1.0)
    _wait_task(lab, "evening-mix", "waiting_for_resources")
    expired = lab.wait_run("evening", "failed")
    idle = _approve(lab, approver, "too-early", run="evening")
    lab.patch_run(lab.agent, "evening", resumeCount=1)
    _wait_task(lab, "evening-mix", "waiting_for_authorization")
    _approve(
        lab, approver, "no", run="evening", decision="refused", expiresAt=None, reason="not tonight"
    )
    wait_until(
        lambda: lab.state(LAB_RUNS, "evening"),
        lambda seen: seen == ("failed", "approval_refused"),
        what="the refusal",
        timeout_s=10,
    )

    assert expired == ("failed", "approval_expired")
    assert idle.status == 201
    assert idle.warnings == (
        "the run waits for no approval now; what it asks for later takes another one",
    )
    assert lab.task("evening-mix")["status"]["dispatches"] == []
    asked = [one for one in lab.wait_event("ApprovalRequested", 2) if one["run"] == "evening"]
    assert len(asked) == 2
    refused = lab.task("evening-mix")["status"]["message"]
    assert refused == f"approval no: refused by {lab.user('approver')}: not tonight"


def test_a_statement_rests_on_what_is_there_and_where_duties_are_separated_on_anothers_word(
    ruled: Lab,
) -> None:
    lab = ruled
    lab.wait_idle()
    lab.submit(lab.agent, "look", {**WEIGH, "instrument": "balance-1"})
    lab.wait_run("look", "completed")
    duties = {"spec": {"separationOfDuties": True}}
    lab.admin.patch(LAB_POLICIES, "lab", duties, namespace=lab.namespace)
    statement = {"task": "night-mix", "finding": "completed", "basis": "the balance read 5.0 g"}

    def attest(who: KubeClient, *evidence: tuple[str, str]) -> Answer:
        references = [{"kind": kind, "name": name} for kind, name in evidence]
        return _put(lab, who, ATTESTATIONS, "night-mix-1", evidence=references, **statement)

    absent = attest(lab.agent, ("LabTask", "look-weight"))
    elsewhere = attest(lab.agent, ("LabTask", f"../../{lab.namespace}/labtasks/look-weigh"))
    foreign = attest(lab.agent, ("ConfigMap", "orders"))
    own = attest(lab.previous, ("LabTask", "look-weigh"))
    good = attest(lab.agent, ("LabTask", "look-weigh"), ("LabRun", "look"))
    lab.wait_run("night", "failed")

    statuses = [one.status for one in (absent, elsewhere, foreign, own, good)]
    assert statuses == [403, 403, 422, 403, 201]
    assert "evidence LabTask 'look-weight' is not in namespace" in absent.message
    assert "the policy separates duties; somebody else may attest it" in own.message
    decided = lab.admin.get(ATTESTATIONS, "night-mix-1", namespace=lab.namespace)
    assert decided["status"]["accepted"] is True


def test_a_note_has_its_author_a_subject_that_is_there_and_never_changes(ruled: Lab) -> None:
    lab = ruled
    subject = {"kind": "Instrument", "name": "mixer-1"}

    made = _put(
        lab, lab.agent, NOTES, "a", subject=subject, reason="not_mine", text="left", author="x"
    )
    gone = {"kind": "LabRun", "name": "none"}
    nowhere = _put(lab, lab.agent, NOTES, "b", subject=gone, reason="unknown", text="left")
    odd = _put(lab, lab.agent, NOTES, "c", subject=subject, reason="bored", text="left")
    blank = _put(lab, lab.agent, NOTES, "d", subject=subject, reason="refused", text=" ")
    path = NOTES.path(lab.namespace, "a")
    body = {"spec": {"text": "never said"}}
    changed = lab.admin.ask("PATCH", path, body=body, content_type=MERGE_PATCH)
    deleted = lab.agent.ask("DELETE", path)
    pin = {**MIX, "instrument": "balance-1"}
    wrong_type = lab.try_run(lab.agent, lab.run("odd", pin))

    assert made.status == 201
    assert made.body["spec"]["author"] == lab.user("agent")
    statuses = [one.status for one in (nowhere, odd, blank, changed, deleted, wrong_type)]
    assert statuses == [403, 422, 422, 422, 403, 403]
    assert "a note is about an object that is there" in nowhere.message
    assert "supported values" in odd.message
    assert "a note never changes; write another" in changed.message
    assert wrong_type.message.endswith(
        "run 'odd', step 'mix': instrument 'balance-1' is none of type 'mixer', which "
        "sim.mix_color takes; there are: mixer-1, mixer-2, mixer-3"
    )
