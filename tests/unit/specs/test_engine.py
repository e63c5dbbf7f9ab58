"""Cases run against scripted answers: what is asked as whom, judged, and undone."""

from __future__ import annotations

from typing import Any, cast

import pytest

from harness.errors import UnreachableError
from harness.kube.answers import Answer
from harness.kube.client import KubeClient
from harness.model.spec import Case, CaseResult, Cause, SpecBody, Verdict
from harness.specs.engine import judge
from harness.specs.probe import Probe
from tests.unit.specs.fakes import GONE, MADE, RBAC, FakeClient, case_of, refused

AGENT, CONTROLLER = "strandline-canary:agent", "strandline-canary:controller"
GIVEN = [{"as": "agent", "create": {"kind": "LabRun", "metadata": {"name": "night"}, "spec": {}}}]
OK = Answer(status=200, body={"kind": "LabRun"})


def _judge(client: FakeClient, case: Case, capabilities: tuple[str, ...] = ()) -> CaseResult:
    probe = Probe.of(cast("KubeClient", client), "strandline-canary", capabilities)
    return judge("a-spec", case, probe, when="ready", marker="7f3a")


def test_a_case_makes_what_is_given_asks_controls_and_undoes() -> None:
    client = FakeClient(
        (AGENT, "POST labruns", MADE),
        (AGENT, "PATCH status", RBAC),
        (CONTROLLER, "PATCH status", OK),
        ("admin", "DELETE night-7f3a", GONE),
    )

    result = _judge(client, case_of(given=GIVEN))

    assert (result.verdict, result.cause) == (Verdict.HELD, None)
    assert result.detail == "refused by rbac with 403; control admitted"
    assert result.refuser == "rbac"
    assert client.used_up


def test_what_is_asked_is_a_dry_run_and_what_is_given_is_not() -> None:
    client = FakeClient(
        (AGENT, "POST labruns", MADE),
        (AGENT, "PATCH status", RBAC),
        (CONTROLLER, "PATCH status", OK),
        ("admin", "DELETE night-7f3a", GONE),
    )

    _judge(client, case_of(given=GIVEN))

    manager = {"fieldManager": "strandline-probe-7f3a"}
    dry = {**manager, "dryRun": "All"}
    assert [query for _, _, query, _ in client.asked] == [manager, dry, dry, None]
    assert client.asked[3][3]["preconditions"] == {"uid": "u1"}


def test_a_refusal_whose_control_is_refused_too_proves_nothing() -> None:
    client = FakeClient((AGENT, "PATCH status", RBAC), (CONTROLLER, "PATCH status", RBAC))

    result = _judge(client, case_of())

    assert (result.verdict, result.cause) == (Verdict.UNKNOWN, Cause.CONTROL_REFUSED)
    assert result.detail.startswith("control as controller: refused by rbac: 403 ")


def test_a_control_that_nobody_answered_keeps_its_own_cause() -> None:
    down = refused(500, 'failed calling webhook "v": connection refused')
    client = FakeClient((AGENT, "PATCH status", RBAC), (CONTROLLER, "PATCH status", down))

    result = _judge(client, case_of())

    assert (result.verdict, result.cause) == (Verdict.UNKNOWN, Cause.CONNECTION_REFUSED)


def test_what_is_admitted_although_a_refusal_was_expected_is_broken() -> None:
    client = FakeClient((AGENT, "PATCH status", OK))

    result = _judge(client, case_of())

    assert (result.verdict, result.cause) == (Verdict.BROKEN, Cause.NOT_ENFORCED)


def test_a_given_that_is_refused_ends_the_case_and_undoes_the_ones_before() -> None:
    given = [*GIVEN, {"as": "controller", "create": {**GIVEN[0]["create"], "kind": "LabTask"}}]  # type: ignore[dict-item] # the first is a mapping
    client = FakeClient(
        (AGENT, "POST labruns", MADE),
        (CONTROLLER, "POST labtasks", RBAC),
        ("admin", "DELETE night-7f3a", GONE),
    )

    result = _judge(client, case_of(given=given))

    assert (result.verdict, result.cause) == (Verdict.UNKNOWN, Cause.GIVEN_FAILED)
    assert result.detail.startswith("given 2 as controller: refused by rbac")
    assert client.used_up


def test_what_may_have_been_stored_without_an_answer_is_removed_by_its_name() -> None:
    client = FakeClient(
        (AGENT, "POST labruns", UnreachableError("no answer")),
        ("admin", "DELETE night-7f3a", refused(404, "not found")),
    )

    result = _judge(client, case_of(given=GIVEN))

    assert (result.verdict, result.cause) == (Verdict.UNKNOWN, Cause.API_UNREACHABLE)
    assert result.detail == "no answer"
    assert client.asked[1][3] == {"propagationPolicy": "Background"}


def test_removing_is_tried_again_until_it_is_gone() -> None:
    held = Answer(status=200, body={"kind": "LabRun"})
    client = FakeClient(
        (AGENT, "POST labruns", MADE),
        (AGENT, "PATCH status", RBAC),
        (CONTROLLER, "PATCH status", OK),
        ("admin", "DELETE night-7f3a", refused(500, "storage is initializing")),
        ("admin", "DELETE night-7f3a", held),
        ("admin", "DELETE night-7f3a", refused(409, "another UID")),
    )

    result = _judge(client, case_of(given=GIVEN))

    assert result.verdict is Verdict.HELD
    assert client.used_up


def test_a_request_that_is_stored_is_removed_again() -> None:
    request: dict[str, Any] = {
        "verb": "create",
        "resource": "configmaps",
        "body": {"metadata": {"name": "orders"}},
        "dry_run": False,
    }
    client = FakeClient(("admin", "POST configmaps", MADE), ("admin", "DELETE orders-7f3a", GONE))

    case = case_of(**{"as": "admin"}, request=request, expect="admitted", control=None)

    assert _judge(client, case).verdict is Verdict.HELD
    assert client.used_up


def test_what_was_not_stored_is_not_removed() -> None:
    body = {"metadata": {"name": "orders"}}
    dry: dict[str, Any] = {"verb": "create", "resource": "configmaps", "body": body}
    token = {**dry, "resource": "serviceaccounts", "name": "agent", "subresource": "token"}
    client = FakeClient(("admin", "POST configmaps", MADE), ("admin", "POST token", MADE))
    probes = (dry, {**token, "dry_run": False})

    verdicts = [
        _judge(
            client, case_of(**{"as": "admin"}, request=request, expect="admitted", control=None)
        ).verdict
        for request in probes
    ]

    assert verdicts == [Verdict.HELD, Verdict.HELD]
    assert client.used_up


def test_a_cluster_that_lacks_what_is_required_is_asked_nothing() -> None:
    client = FakeClient()

    result = _judge(client, case_of(requires=["webhook", "audit"]), ("audit",))

    assert (result.verdict, result.cause) == (Verdict.UNKNOWN, Cause.NOT_RUNNABLE)
    assert result.detail == "the cluster lacks webhook"


def test_what_was_stored_under_an_answer_that_says_nothing_is_removed_by_its_name() -> None:
    client = FakeClient(
        (AGENT, "POST labruns", Answer(status=201, body={"message": "no JSON"})),
        ("admin", "DELETE night-7f3a", GONE),
    )

    result = _judge(client, case_of(given=GIVEN))

    assert (result.verdict, result.cause) == (Verdict.UNKNOWN, Cause.GIVEN_FAILED)
    assert client.used_up
    assert client.asked[1][3] == {"propagationPolicy": "Background"}


LIST = {"verb": "list", "resource": "configmaps"}


@pytest.mark.parametrize("expect", ["absent", {"count": 0}])
@pytest.mark.parametrize(
    ("status", "verdict", "cause"),
    [(200, Verdict.HELD, None), (404, Verdict.UNKNOWN, Cause.TARGET_MISSING)],
)
def test_nothing_in_a_namespace_that_is_not_there_proves_nothing(
    expect: Any, status: int, verdict: Verdict, cause: Cause | None
) -> None:
    client = FakeClient(
        (AGENT, "GET configmaps", Answer(status=200, body={"kind": "ConfigMapList", "items": []})),
        ("admin", "GET strandline-canary", Answer(status=status, body={"kind": "Namespace"})),
    )

    result = _judge(client, case_of(request=LIST, expect=expect, control=None))

    assert (result.verdict, result.cause) == (verdict, cause)
    assert client.used_up


def test_what_is_found_is_counted_without_a_look_at_its_namespace() -> None:
    found = Answer(status=200, body={"kind": "ConfigMapList", "items": [{}]})
    client = FakeClient((AGENT, "GET configmaps", found))

    result = _judge(client, case_of(request=LIST, expect={"count": 1}, control=None))

    assert result.verdict is Verdict.HELD


def test_what_the_api_server_only_passes_on_need_be_no_object() -> None:
    request = {"verb": "get", "resource": "configmaps", "name": "web"}
    said = Answer(status=200, body={"message": "GET / 200"})
    client = FakeClient((AGENT, "GET log", said), (AGENT, "GET web", said))
    log, pod = (
        case_of(request={**request, "subresource": part}, expect="admitted", control=None)
        for part in ("log", "")
    )

    verdicts = [_judge(client, case).verdict for case in (log, pod)]

    assert verdicts == [Verdict.HELD, Verdict.UNKNOWN]


@pytest.mark.parametrize("code", [404, 409])
def test_what_a_webhook_keeps_from_being_deleted_is_left_behind_whatever_its_code(
    code: int,
) -> None:
    kept = refused(code, 'admission webhook "w" denied the request: not now')
    client = FakeClient(
        (AGENT, "POST labruns", MADE),
        (AGENT, "PATCH status", RBAC),
        (CONTROLLER, "PATCH status", OK),
        ("admin", "DELETE night-7f3a", kept),
        ("admin", "DELETE night-7f3a", GONE),
    )

    _judge(client, case_of(given=GIVEN))

    assert client.used_up


BODY = {"cases": [case_of().model_dump(by_alias=True)], "namespace": "shop"}
WHO: list[tuple[dict[str, Any], str]] = [
    ({"user": "jane"}, "jane of system:authenticated"),
    ({"user": "jane", "groups": ["ops"]}, "jane of ops, system:authenticated"),
    ({"service_account": "deployer"}, "shop:deployer"),
    ({"service_account": "deployer", "namespace": "ci"}, "ci:deployer"),
]


@pytest.mark.parametrize(("identity", "seen"), WHO)
def test_somebody_whom_a_spec_names_is_who_it_says(identity: dict[str, Any], seen: str) -> None:
    body = SpecBody.model_validate({**BODY, "identities": {"somebody": identity}})
    probe = Probe.of(cast("KubeClient", FakeClient()), "strandline-canary", ()).of_spec(body)

    found = probe.client_as("somebody")

    assert cast("FakeClient", found).identity == seen


def test_a_spec_with_a_namespace_is_probed_there_and_roles_stay_where_they_are() -> None:
    client = FakeClient((AGENT, "PATCH status", RBAC), (CONTROLLER, "PATCH status", OK))
    probe = Probe.of(cast("KubeClient", client), "strandline-canary", ())

    result = judge(
        "a-spec",
        case_of(),
        probe.of_spec(SpecBody.model_validate(BODY)),
        when="ready",
        marker="7f3a",
    )

    assert result.namespace == "shop"
    assert client.used_up
    assert {path.split("/")[5] for _, path, _, _ in client.asked} == {"shop"}
