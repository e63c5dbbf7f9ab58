"""The client against a real API server: errors typed, identities, watches, warnings."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator

import pytest
import trustme

from harness.cluster.provider import Cluster
from harness.errors import ConflictError, DeniedError, KubeError, NotFoundError, UnreachableError
from harness.kube.client import JSON_PATCH, KubeClient
from harness.kube.resources import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS, Resource
from tests.integration.kube.conftest import SCRATCHES, employ, scratch


@pytest.fixture
def agent(client: KubeClient, cluster: Cluster, namespace: str) -> Iterator[KubeClient]:
    """Return a client that holds the token of an account which may only look."""
    employ(client, namespace, "agent", "get", "list", "watch")
    token = client.request_token(namespace, "agent", lifetime_s=600)
    found = KubeClient.from_token(server=cluster.server, ca_pem=cluster.ca_pem, token=token)
    yield found
    found.close()


def test_an_object_that_is_not_there_is_a_not_found_error(
    client: KubeClient, namespace: str
) -> None:
    with pytest.raises(NotFoundError) as caught:
        client.get(CONFIG_MAPS, "missing", namespace=namespace)

    assert (caught.value.status, caught.value.reason) == (404, "NotFound")
    assert caught.value.message == (
        f'GET /api/v1/namespaces/{namespace}/configmaps/missing: configmaps "missing" not found'
    )
    assert client.find(CONFIG_MAPS, "missing", namespace=namespace) is None


def test_an_object_that_is_there_already_is_a_conflict(client: KubeClient, namespace: str) -> None:
    client.create(CONFIG_MAPS, {"metadata": {"name": "one"}}, namespace=namespace)

    with pytest.raises(ConflictError) as caught:
        client.create(CONFIG_MAPS, {"metadata": {"name": "one"}}, namespace=namespace)

    assert (caught.value.status, caught.value.reason) == (409, "AlreadyExists")


def test_what_rbac_forbids_is_denied(agent: KubeClient, namespace: str) -> None:
    with pytest.raises(DeniedError) as caught:
        agent.create(SCRATCHES, scratch("one"), namespace=namespace)

    assert (caught.value.status, caught.value.reason) == (403, "Forbidden")
    assert agent.list_objects(SCRATCHES, namespace=namespace) == []


def test_what_the_schema_forbids_is_denied(client: KubeClient, namespace: str) -> None:
    with pytest.raises(DeniedError) as caught:
        client.create(SCRATCHES, scratch("one", n=10), namespace=namespace)

    assert (caught.value.status, caught.value.reason) == (422, "Invalid")
    assert "should be less than or equal to 9" in caught.value.message


def test_any_other_refusal_keeps_its_status(client: KubeClient, namespace: str) -> None:
    with pytest.raises(KubeError) as caught:
        client.call("POST", f"/api/v1/namespaces/{namespace}/configmaps/one")

    assert type(caught.value) is KubeError
    assert caught.value.status == 405


def test_no_answer_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    nobody = KubeClient.from_token(server=f"http://127.0.0.1:{port}", ca_pem=b"", token="t")

    with pytest.raises(UnreachableError) as caught:
        nobody.ask("GET", "/version")

    assert caught.value.status == 0
    assert caught.value.hint == "check that the cluster is running"
    assert caught.value.message.startswith(f"GET /version: no answer from http://127.0.0.1:{port}")
    nobody.close()


def test_a_server_that_never_answers_is_unreachable_after_the_bound() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        silent = KubeClient.from_token(server=f"http://127.0.0.1:{port}", ca_pem=b"", token="t")

        with pytest.raises(UnreachableError, match="timed out"):
            silent.ask("GET", "/version", timeout_s=0.2)

        silent.close()


def test_another_authoritys_certificate_is_not_believed(cluster: Cluster) -> None:
    other = trustme.CA().cert_pem.bytes()
    stranger = KubeClient.from_token(server=cluster.server, ca_pem=other, token="t")

    with pytest.raises(UnreachableError, match="CERTIFICATE_VERIFY_FAILED"):
        stranger.version()

    stranger.close()


def test_a_token_that_nobody_issued_is_refused(cluster: Cluster) -> None:
    stranger = KubeClient.from_token(server=cluster.server, ca_pem=cluster.ca_pem, token="forged")

    answer = stranger.ask("GET", "/api/v1/namespaces")

    assert (answer.status, answer.refused) == (401, True)
    stranger.close()


def test_an_impersonated_account_is_that_account_with_all_its_groups(
    client: KubeClient, namespace: str
) -> None:
    somebody = client.as_service_account(namespace, "agent")
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}

    answer = somebody.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body=review)

    assert answer["status"]["userInfo"]["username"] == f"system:serviceaccount:{namespace}:agent"
    assert sorted(answer["status"]["userInfo"]["groups"]) == [
        "system:authenticated",
        "system:serviceaccounts",
        f"system:serviceaccounts:{namespace}",
    ]


def test_an_impersonated_account_has_its_own_rights_and_the_client_keeps_its_own(
    client: KubeClient, namespace: str
) -> None:
    employ(client, namespace, "looker", "list")
    looker = client.as_service_account(namespace, "looker")

    assert looker.list_objects(SCRATCHES, namespace=namespace) == []
    assert looker.ask("GET", CONFIG_MAPS.path(namespace)).status == 403
    assert client.ask("GET", CONFIG_MAPS.path(namespace)).status == 200


def test_lists_are_sorted_and_name_their_kind(client: KubeClient, namespace: str) -> None:
    for name in ("b", "a"):
        manifest = {"metadata": {"name": name, "labels": {"set": "ours"}}}
        client.create(CONFIG_MAPS, manifest, namespace=namespace)

    found = client.list_objects(CONFIG_MAPS, namespace=namespace, selector="set=ours")

    assert [item["metadata"]["name"] for item in found] == ["a", "b"]
    assert {(item["apiVersion"], item["kind"]) for item in found} == {("v1", "ConfigMap")}


def test_patches_change_what_they_name_and_nothing_else(client: KubeClient, namespace: str) -> None:
    manifest = {"metadata": {"name": "one"}, "data": {"a": "1", "b": "2"}}
    client.create(CONFIG_MAPS, manifest, namespace=namespace)

    client.patch(CONFIG_MAPS, "one", {"data": {"a": "3"}}, namespace=namespace)
    removal = [{"op": "remove", "path": "/data/b"}]
    found = client.patch(CONFIG_MAPS, "one", removal, namespace=namespace, content_type=JSON_PATCH)

    assert found["data"] == {"a": "3"}


def test_a_delete_tells_whether_something_was_there(client: KubeClient, namespace: str) -> None:
    client.create(CONFIG_MAPS, {"metadata": {"name": "one"}}, namespace=namespace)

    assert client.delete(CONFIG_MAPS, "one", namespace=namespace)
    assert not client.delete(CONFIG_MAPS, "one", namespace=namespace)


def test_a_delete_by_uid_spares_another_object_of_the_same_name(
    client: KubeClient, namespace: str
) -> None:
    manifest = {"metadata": {"name": "one"}}
    first = client.create(CONFIG_MAPS, manifest, namespace=namespace)["metadata"]["uid"]
    client.delete(CONFIG_MAPS, "one", namespace=namespace)
    second = client.create(CONFIG_MAPS, manifest, namespace=namespace)["metadata"]["uid"]

    with pytest.raises(ConflictError, match="the UID in the precondition"):
        client.delete(CONFIG_MAPS, "one", namespace=namespace, uid=first)

    assert client.get(CONFIG_MAPS, "one", namespace=namespace)["metadata"]["uid"] == second
    assert client.delete(CONFIG_MAPS, "one", namespace=namespace, uid=second)


def test_a_watch_gives_what_happened_since_a_list_and_ends(
    client: KubeClient, namespace: str
) -> None:
    _, version = client.list_at(SCRATCHES, namespace=namespace)
    client.create(SCRATCHES, scratch("one", n=1), namespace=namespace)
    client.patch(SCRATCHES, "one", {"spec": {"n": 2}}, namespace=namespace)
    client.delete(SCRATCHES, "one", namespace=namespace)

    watched = client.watch(SCRATCHES, namespace=namespace, resource_version=version, timeout_s=1)
    seen = [(kind, item["spec"]) for kind, item in watched if kind != "BOOKMARK"]

    assert seen == [("ADDED", {"n": 1}), ("MODIFIED", {"n": 2}), ("DELETED", {"n": 2})]


def test_a_watch_hands_an_event_on_as_it_comes(client: KubeClient, namespace: str) -> None:
    _, version = client.list_at(SCRATCHES, namespace=namespace)
    watched = client.watch(SCRATCHES, namespace=namespace, resource_version=version, timeout_s=30)

    client.create(SCRATCHES, scratch("one"), namespace=namespace)

    assert next(watched)[1]["metadata"]["name"] == "one"
    client.create(SCRATCHES, scratch("two"), namespace=namespace)
    assert next(watched)[1]["metadata"]["name"] == "two"
    watched.close()  # type: ignore[attr-defined]  # a generator, announced as an iterator


def test_a_watch_from_what_is_no_version_is_refused(client: KubeClient, namespace: str) -> None:
    with pytest.raises(KubeError) as caught:
        next(client.watch(CONFIG_MAPS, namespace=namespace, resource_version="x", timeout_s=5))

    assert caught.value.status == 500
    assert caught.value.message.startswith("watch configmaps: ")


def test_a_watch_that_rbac_forbids_is_denied(agent: KubeClient, namespace: str) -> None:
    with pytest.raises(DeniedError):
        next(agent.watch(CONFIG_MAPS, namespace=namespace, resource_version="0"))


def test_warnings_are_read_to_the_letter(client: KubeClient, namespace: str) -> None:
    manifest = {**scratch("one"), "typo": 1, 'say "hi"': 2}

    answer = client.ask("POST", SCRATCHES.path(namespace), body=manifest)

    assert answer.status == 201
    assert sorted(answer.warnings) == ['unknown field "say "hi""', 'unknown field "typo"']


def test_a_request_without_a_problem_has_no_warning(client: KubeClient, namespace: str) -> None:
    assert client.ask("POST", SCRATCHES.path(namespace), body=scratch("one")).warnings == ()


def test_a_token_is_of_its_account_and_lasts_no_less_than_asked(
    client: KubeClient, agent: KubeClient, namespace: str
) -> None:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}

    who = agent.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body=review)

    assert who["status"]["userInfo"]["username"] == f"system:serviceaccount:{namespace}:agent"
    with pytest.raises(NotFoundError):
        client.request_token(namespace, "nobody", lifetime_s=600)


def test_a_cluster_is_known_by_an_identity_that_stays(client: KubeClient) -> None:
    uid = client.get(NAMESPACES, "kube-system")["metadata"]["uid"]

    assert client.identity() == uid
    assert client.version().startswith("v1.")


def test_discovery_finds_what_can_be_listed_and_deleted_once_each(
    kinds: tuple[Resource, ...],
) -> None:
    names = [kind.qualified for kind in kinds]

    assert {SCRATCHES, CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS} <= set(kinds)
    assert len(names) == len(set(names))
    assert "selfsubjectaccessreviews.authorization.k8s.io" not in names
    assert not [name for name in names if "/" in name]


def test_an_object_that_somebody_changed_in_between_is_a_conflict(
    client: KubeClient, namespace: str
) -> None:
    name = f"one-{secrets.token_hex(2)}"
    old = client.create(CONFIG_MAPS, {"metadata": {"name": name}}, namespace=namespace)
    client.patch(CONFIG_MAPS, name, {"data": {"a": "1"}}, namespace=namespace)

    with pytest.raises(ConflictError) as caught:
        client.call("PUT", CONFIG_MAPS.path(namespace, name), body=old)

    assert caught.value.reason == "Conflict"
