"""A case that is probed more than once: fresh names, one control, and what is lost on the way."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.answers import Answer
from harness.model.spec import Case, Cause, Verdict
from harness.specs.engine import judge
from harness.specs.probe import Probe
from harness.specs.running import shares
from tests.unit.specs.fakes import GONE, MADE, RBAC, FakeClient, case_of

AGENT, CONTROLLER = "canary:agent", "canary:controller"
POLICY = {"refused": {"by": "policy", "name": "p"}}
DENIED = Answer(
    status=403,
    body={
        "message": 'labruns "a" is forbidden: '
        "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no"
    },
)
ADMITTED = Answer(status=201, body={"kind": "LabRun", "metadata": {"uid": "u"}})


def _create(**changes: Any) -> Case:
    request = {
        "verb": "create",
        "resource": "labruns.lab.strandline.dev",
        "body": {"metadata": {"name": "night"}},
        **changes,
    }
    return case_of(request=request, expect=POLICY)


def _judge(client: FakeClient, case: Case, *, probes: int) -> Any:
    probe = Probe.of(client, "canary", ())  # type: ignore[arg-type] # a strict fake
    return judge("a-spec", case, probe, when="ready", marker="m1", probes=probes)


def test_each_probe_has_names_of_its_own_and_the_control_is_asked_once() -> None:
    client = FakeClient(
        (AGENT, "POST labruns", DENIED),
        (AGENT, "POST labruns", DENIED),
        (AGENT, "POST labruns", DENIED),
        (CONTROLLER, "POST labruns", ADMITTED),
    )

    result = _judge(client, _create(), probes=3)

    assert (result.verdict, result.probes) == (Verdict.HELD, 3)
    names = [body["metadata"]["name"] for _, _, _, body in client.asked]
    assert names == ["night-m1", "night-m1x2", "night-m1x3", "night-m1"]
    assert client.used_up


def test_a_guard_that_is_lost_between_two_probes_is_enforced_at_times_only() -> None:
    client = FakeClient(
        (AGENT, "POST labruns", DENIED),
        (AGENT, "POST labruns", DENIED),
        (AGENT, "POST labruns", ADMITTED),
    )

    result = _judge(client, _create(), probes=9)

    assert (result.verdict, result.cause) == (Verdict.BROKEN, Cause.FLAPPING)
    assert result.detail == "held 2 times, then: admitted, expected a refusal by policy:p"


def test_a_guard_that_stops_answering_between_two_probes_keeps_that_as_its_cause() -> None:
    client = FakeClient(
        (AGENT, "POST labruns", DENIED),
        (AGENT, "POST labruns", Answer(status=504, body={"message": "Timeout"})),
    )

    result = _judge(client, _create(), probes=9)

    assert (result.verdict, result.cause) == (Verdict.UNKNOWN, Cause.TIMED_OUT)


def test_what_is_refused_in_another_way_is_not_asked_again() -> None:
    client = FakeClient((AGENT, "POST labruns", RBAC))

    result = _judge(client, _create(), probes=9)

    assert (result.cause, result.probes) == (Cause.WRONG_REFUSER, 1)


def test_what_is_stored_is_made_and_removed_for_each_probe() -> None:
    case = _create(dry_run=False).model_copy(
        update={"expect": case_of(expect="admitted").expect, "control": None}
    )
    client = FakeClient(
        (AGENT, "POST labruns", MADE),
        ("admin", "DELETE night-m1", GONE),
        (AGENT, "POST labruns", MADE),
        ("admin", "DELETE night-m1x2", GONE),
    )

    result = _judge(client, case, probes=2)

    assert (result.verdict, result.probes) == (Verdict.HELD, 2)
    assert client.used_up


@pytest.mark.parametrize(
    ("expect", "guard"),
    [
        (POLICY, "policy:p"),
        ({"refused": {"by": "rbac"}}, ""),
        ({"admitted": {"fields": {"spec.operator": "me"}}}, "spec:a-spec"),
        ({"admitted": {"warning": "not for long"}}, "spec:a-spec"),
        ("admitted", ""),
        ({"count": 1}, ""),
    ],
)
def test_a_result_says_whom_several_probes_tell_of(expect: Any, guard: str) -> None:
    client = FakeClient((AGENT, "PATCH status", Answer(status=504, body={})))

    assert _judge(client, case_of(expect=expect), probes=1).guard == guard


@pytest.mark.parametrize(
    ("guards", "probes", "expected"),
    [
        (["a", "a", "b"], 1, (1, 1, 1)),
        (["a", "a", "b"], 10, (5, 5, 10)),
        (["a"] * 3, 10, (4, 4, 4)),
        (["", "a", ""], 10, (1, 10, 1)),
        ([], 10, ()),
    ],
)
def test_cases_share_the_probes_of_their_guard(
    guards: list[str], probes: int, expected: tuple[int, ...]
) -> None:
    assert shares(guards, probes) == expected
