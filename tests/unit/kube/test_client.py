"""What the client makes of an answer, where a real API server would take long to give it."""

from __future__ import annotations

from typing import Any

import pytest
import urllib3

from harness.errors import ConflictError, DeniedError, KubeError, NotFoundError, UnreachableError
from harness.kube.answers import Answer, error_of, warnings_of
from harness.kube.resources import CONFIG_MAPS, LAB_RUNS
from tests.unit.kube.fakes import FakePool, client_of, response, stream

RUN = {"metadata": {"name": "a"}}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, KubeError),
        (401, KubeError),
        (403, DeniedError),
        (404, NotFoundError),
        (409, ConflictError),
        (410, KubeError),
        (422, DeniedError),
        (429, KubeError),
        (500, KubeError),
    ],
)
def test_each_status_is_an_error_of_its_class(status: int, kind: type[KubeError]) -> None:
    error = error_of(Answer(status=status, body={"message": "no", "reason": "Why"}), "GET /x")

    assert type(error) is kind
    assert (error.status, error.reason, str(error)) == (status, "Why", "GET /x: no")


@pytest.mark.parametrize("body", [{}, [], "text", None])
def test_a_refusal_without_words_is_told_by_its_status(body: Any) -> None:
    error = error_of(Answer(status=502, body=body), "GET /x")

    assert (str(error), error.reason) == ("GET /x: HTTP 502", "")


def test_a_long_message_is_cut() -> None:
    error = error_of(Answer(status=500, body={"message": "x" * 9999}), "GET /x")

    assert len(str(error)) < 700


@pytest.mark.parametrize(
    ("header", "texts"),
    [
        ('299 - "unknown field \\"typo\\""', ('unknown field "typo"',)),
        ('299 - "a \\\\ b"', ("a \\ b",)),
        ('299 - ""', ("",)),
        ('299 agent "text" "Sat, 25 Aug 2012 23:34:45 GMT"', ("text",)),
        ("299 - no quotes", ()),
    ],
)
def test_a_warning_is_its_quoted_text(header: str, texts: tuple[str, ...]) -> None:
    assert warnings_of([header]) == texts


def test_warnings_keep_their_order() -> None:
    pool = FakePool(response(200, {}, warnings=('299 - "b"', '299 - "a"')))

    assert client_of(pool).ask("GET", "/x").warnings == ("b", "a")


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"404 page not found\n", "404 page not found\n"), (b"\xff\xfe", "\ufffd\ufffd")],
)
def test_an_answer_that_is_not_json_is_kept_as_its_message(data: bytes, message: str) -> None:
    assert client_of(FakePool(response(404, data))).ask("GET", "/x").message == message


def test_an_empty_answer_is_an_empty_object() -> None:
    assert client_of(FakePool(response(200, b""))).ask("GET", "/x").body == {}


def test_no_answer_is_unreachable_and_says_what_to_check() -> None:
    pool = FakePool(urllib3.exceptions.ProtocolError("reset"))

    with pytest.raises(UnreachableError) as caught:
        client_of(pool).ask("GET", "/x")

    assert str(caught.value) == "GET /x: no answer from https://api.test: reset"
    assert caught.value.hint == "check that the cluster is running"


def test_an_impersonated_request_has_one_user_and_three_groups_and_the_clients_own_right() -> None:
    pool = FakePool(response(200, {}), response(200, {}))
    admin = client_of(pool)

    admin.as_service_account("lab-1", "agent").ask("GET", "/x")
    admin.ask("GET", "/x")

    headers = pool.asked[0][3]
    assert ("Impersonate-User", "system:serviceaccount:lab-1:agent") in headers
    assert [value for name, value in headers if name == "Impersonate-Group"] == [
        "system:serviceaccounts",
        "system:serviceaccounts:lab-1",
        "system:authenticated",
    ]
    assert ("Authorization", "Bearer t") in headers
    assert not [name for name, _ in pool.asked[1][3] if name.startswith("Impersonate")]


def test_a_delete_by_uid_names_it_as_a_precondition() -> None:
    pool = FakePool(response(200, {}), response(404, {"message": "gone"}))
    client = client_of(pool)

    assert client.delete(CONFIG_MAPS, "a", namespace="n", uid="u1")
    assert not client.delete(CONFIG_MAPS, "a", namespace="n")

    assert pool.asked[0][2] == {"propagationPolicy": "Background", "preconditions": {"uid": "u1"}}
    assert pool.asked[1][2] == {"propagationPolicy": "Background"}


def test_a_watch_gives_each_event_and_ends_with_the_stream() -> None:
    pool = FakePool(stream({"type": "ADDED", "object": RUN}, {"type": "DELETED", "object": RUN}))

    found = list(client_of(pool).watch(LAB_RUNS, namespace="n", resource_version="5"))

    assert found == [("ADDED", RUN), ("DELETED", RUN)]
    assert "resourceVersion=5" in pool.asked[0][1]


def test_a_watch_that_has_expired_says_410_after_what_it_gave() -> None:
    expired = {"code": 410, "reason": "Expired", "message": "too old resource version: 5 (9)"}
    pool = FakePool(stream({"type": "ADDED", "object": RUN}, {"type": "ERROR", "object": expired}))
    watched = client_of(pool).watch(LAB_RUNS, namespace="n", resource_version="5")

    assert next(watched) == ("ADDED", RUN)
    with pytest.raises(KubeError) as caught:
        next(watched)

    assert (caught.value.status, caught.value.reason) == (410, "Expired")
    assert str(caught.value) == (
        "watch labruns.lab.strandline.dev: too old resource version: 5 (9)"
    )


def test_a_watch_that_is_refused_at_once_is_an_error_of_its_class() -> None:
    pool = FakePool(response(403, {"message": "no", "reason": "Forbidden"}))

    with pytest.raises(DeniedError, match="watch labruns"):
        next(client_of(pool).watch(LAB_RUNS, namespace="n", resource_version="5"))


def test_an_aggregated_api_that_is_down_does_not_stop_discovery() -> None:
    groups = {"groups": [{"preferredVersion": {"groupVersion": "down.example.com/v1"}}]}
    entry = {"name": "configmaps", "kind": "ConfigMap", "namespaced": True}
    core = {"resources": [{**entry, "verbs": ["list", "delete"]}]}
    pool = FakePool(
        response(200, groups),
        response(200, core),
        response(503, {}),
        response(200, _services("down.example.com", service={"name": "down"})),
    )

    assert client_of(pool).discover() == (CONFIG_MAPS,)


def test_a_group_of_the_api_servers_own_that_cannot_be_asked_is_no_group_without_kinds() -> None:
    groups = {"groups": [{"preferredVersion": {"groupVersion": "own.example.com/v1"}}]}
    pool = FakePool(
        response(200, groups),
        response(200, {"resources": []}),
        response(503, {"message": "too busy"}),
        response(200, _services("own.example.com", service=None)),
    )

    with pytest.raises(KubeError, match="too busy"):
        client_of(pool).discover()


def test_a_kind_that_is_not_in_its_groups_preferred_version_is_discovered_too() -> None:
    versions = [{"groupVersion": f"x.example.com/{version}"} for version in ("v1", "v1beta1")]
    groups = {"groups": [{"preferredVersion": versions[0], "versions": versions}]}
    new, old = (
        {"name": name, "kind": name.title(), "namespaced": True, "verbs": ["list", "delete"]}
        for name in ("new", "old")
    )
    pool = FakePool(
        response(200, groups),
        response(200, {"resources": []}),
        response(200, {"resources": [new]}),
        response(200, {"resources": [new, old]}),
    )

    found = [(kind.plural, kind.version) for kind in client_of(pool).discover()]

    assert found == [("new", "v1"), ("old", "v1beta1")]


def _services(group: str, *, service: dict[str, str] | None) -> dict[str, Any]:
    spec: dict[str, Any] = {"group": group, "version": "v1"}
    if service:
        spec["service"] = service
    item = {"metadata": {"name": group}, "spec": spec}
    return {"metadata": {"resourceVersion": "1"}, "items": [item]}


def test_a_token_is_asked_for_at_least_as_long_as_the_server_grants() -> None:
    pool = FakePool(response(201, {"status": {"token": "secret"}}))

    assert client_of(pool).request_token("n", "agent", lifetime_s=5) == "secret"
    assert pool.asked[0][2]["spec"] == {"expirationSeconds": 600}
