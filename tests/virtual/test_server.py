"""The server in memory refuses what a real one refuses, in its words, and keeps what it keeps."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.answers import Answer
from harness.kube.refusals import who_refused
from tests.virtual.asking import HARNESS, Ask, account
from tests.virtual.lab import VirtualLab
from tests.virtual.laboratory import Laboratory
from tests.virtual.suite import VirtualSuite

NAMESPACE = "lab-00000000"
AGENT = account(NAMESPACE, "agent")
OPERATOR = account(NAMESPACE, "previous-operator")
CONTROLLER = account(NAMESPACE, "controller")


class Refused(Exception):  # noqa: N818 - as the door of the suite's controls calls it
    """A refusal."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@pytest.fixture
def lab(small: VirtualSuite) -> Laboratory:
    laboratory = Laboratory(NAMESPACE)
    for plural, obj in small.tasks["mix-one"].objects:
        laboratory.store.add(plural, obj, laboratory.clock.at)
    laboratory.open()
    return laboratory


def mix(name: str = "mix", **spec: Any) -> dict[str, Any]:
    inputs = {"sample_id": "a", "red_g": 1, "green_g": 0, "blue_g": 0}
    step = {"id": "mix", "capability": "sim.mix_components", "inputs": inputs}
    spec = {"steps": [step], **spec}
    return {"kind": "LabRun", "metadata": {"name": name}, "spec": spec}


def create(lab: Laboratory, body: dict[str, Any], *, dry_run: bool = False) -> Answer:
    return lab.server.ask(
        OPERATOR, Ask(verb="create", plural="labruns", body=body, dry_run=dry_run)
    )


def test_a_run_that_is_created_carries_what_the_server_and_the_webhook_give_it(
    lab: Laboratory,
) -> None:
    made = create(lab, mix(operator="somebody-else"))

    assert made.status == 201
    assert made.body["spec"]["operator"] == OPERATOR.user
    assert made.body["spec"]["environment"] == "simulation"
    assert made.body["status"]["state"] == "planned"
    assert made.body["metadata"]["creationTimestamp"] == "2026-11-30T01:00:00Z"


def test_a_dry_run_is_answered_like_the_request_and_keeps_nothing(lab: Laboratory) -> None:
    asked = create(lab, mix(), dry_run=True)

    assert asked.status == 201
    assert lab.store.find("labruns", "mix") is None


def test_a_run_is_carried_out_as_time_passes(lab: Laboratory) -> None:
    create(lab, mix())

    lab.advance(0.5)
    halfway = lab.store.all("labruns")[0]["status"]["state"]
    lab.advance(0.5)

    assert halfway == "running"
    assert [entry["event"] for entry in lab.entries] == ["accepted", "started", "finished"]
    assert lab.store.all("labruns")[0]["status"]["state"] == "completed"


@pytest.mark.parametrize(
    ("caller", "ask", "code", "by"),
    [
        (AGENT, Ask(verb="get", plural="secrets", name="x"), 403, "rbac"),
        (OPERATOR, Ask(verb="get", plural="labruns", name="absent"), 404, None),
        (OPERATOR, Ask(verb="create", plural="labruns", body=mix("there")), 409, None),
        (
            OPERATOR,
            Ask(verb="create", plural="labruns", body=mix(steps=[])),
            422,
            "schema",
        ),
        (
            OPERATOR,
            Ask(verb="patch", plural="labruns", name="there", body={"spec": {"environment": "x"}}),
            422,
            "schema",
        ),
        (
            HARNESS,
            Ask(
                verb="patch",
                plural="labruns",
                name="there",
                subresource="status",
                body={"status": {"reason": "because"}},
            ),
            403,
            "policy:run-status-is-the-controllers",
        ),
        (
            CONTROLLER,
            Ask(
                verb="patch",
                plural="labruns",
                name="there",
                subresource="status",
                body={"status": {"state": "planned"}},
            ),
            422,
            "schema",
        ),
        (
            OPERATOR,
            Ask(
                verb="patch",
                plural="labruns",
                name="there",
                body={"metadata": {"labels": {"strandline.dev/run": "mine"}}},
            ),
            403,
            "policy:ownership-is-the-harnesses",
        ),
        (
            OPERATOR,
            Ask(
                verb="create",
                plural="labruns",
                body=mix(steps=[{"id": "x", "capability": "sim.fly"}]),
            ),
            403,
            "webhook:validate.lab.strandline.dev",
        ),
        (
            OPERATOR,
            Ask(
                verb="patch",
                plural="labruns",
                name="there",
                body={"metadata": {"resourceVersion": "1"}, "spec": {"cancelRequested": True}},
            ),
            409,
            None,
        ),
    ],
)
def test_each_guard_refuses_in_its_own_words(
    lab: Laboratory, caller: Any, ask: Ask, code: int, by: str | None
) -> None:
    create(lab, mix("there"))
    lab.advance(1)

    answer = lab.server.ask(caller, ask)

    assert answer.status == code, answer.message
    assert who_refused(answer.status, answer.message) == by


def test_what_the_agent_asks_is_on_record_and_what_others_ask_is_not(lab: Laboratory) -> None:
    create(lab, mix())
    lab.server.ask(AGENT, Ask(verb="list", plural="labruns"))

    (record,) = lab.server.audit

    assert (record.verb, record.code, record.refused_by) == ("list", 403, "rbac")  # not bound yet


def test_a_refusal_by_rbac_leaves_neither_name_nor_body(lab: Laboratory) -> None:
    lab.server.ask(AGENT, Ask(verb="create", plural="labtasks", body=mix()))

    (record,) = lab.server.audit

    assert (record.name, record.body, record.refused_by) == ("", None, "rbac")


def test_a_wait_ends_at_what_it_waits_for_and_is_a_watch_on_record(small: VirtualSuite) -> None:
    laboratory = Laboratory(NAMESPACE)
    for plural, obj in small.tasks["mix-one"].objects:
        laboratory.store.add(plural, obj, laboratory.clock.at)
    laboratory.store.add("rolebindings", BINDING, laboratory.clock.at)
    laboratory.open()
    lab = VirtualLab(laboratory, Refused, act_seconds=60)
    lab.create(mix())

    found = lab.wait("labruns", "mix", lambda run: run["status"]["state"] == "completed")
    late = lab.wait("labruns", "mix", lambda run: run["status"]["state"] == "failed", timeout_s=5)

    assert found is not None
    assert late == found
    assert [record.verb for record in laboratory.server.audit] == [
        *("create", "list", "watch", "list", "watch")
    ]
    assert laboratory.clock.monotonic_s() == pytest.approx(0.08 + 0.6 + 0.08 + 5)


BINDING = {
    "kind": "RoleBinding",
    "metadata": {"name": "agent"},
    "roleRef": {"name": "strandline:agent"},
    "subjects": [{"kind": "ServiceAccount", "name": "agent"}],
}
