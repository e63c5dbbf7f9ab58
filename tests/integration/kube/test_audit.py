"""The audit log of a real API server: what an agent did, read off what was written of it.

The same acts, recorded once, are tests/data/audit/kubernetes-1.37.2.jsonl.
"""

from __future__ import annotations

import secrets
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.cluster.provider import Cluster
from harness.core.waiting import wait_until
from harness.errors import EvidenceGapError, NotFoundError
from harness.grading.reads import saw
from harness.kube.audit import AuditLog, credential_of_token, in_flight, mark, slice_of
from harness.kube.client import KubeClient
from harness.model.evidence import AuditRecord
from tests.integration.kube.conftest import SCRATCHES, employ, scratch

DRY = {"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]}
WET = {"apiVersion": "v1", "kind": "DeleteOptions"}


@dataclass(frozen=True, kw_only=True)
class Stage:
    """An agent, and the log in which its acts are looked for."""

    client: KubeClient
    agent: KubeClient
    namespace: str
    log: AuditLog
    since: int
    token: str
    cluster: Cluster

    @property
    def user(self) -> str:
        """Return the agent's user name."""
        return f"system:serviceaccount:{self.namespace}:agent"

    @property
    def path(self) -> str:
        """Return the URL path of the namespace's Scratches."""
        return SCRATCHES.path(self.namespace)

    @contextmanager
    def connection(self) -> Iterator[ssl.SSLSocket]:
        """Connect to the API server."""
        context = ssl.create_default_context(cadata=self.cluster.ca_pem.decode())
        host, _, port = self.cluster.server.removeprefix("https://").partition(":")
        with (
            socket.create_connection((host, int(port))) as plain,
            context.wrap_socket(plain, server_hostname=host) as connection,
        ):
            yield connection

    def head(self, method: str, target: str, *more: str) -> bytes:
        """Return the head of a request of the agent's."""
        bearer = f"Authorization: Bearer {self.token}"
        return "\r\n".join(
            [f"{method} {target} HTTP/1.1", "Host: x", bearer, *more, "", ""]
        ).encode()

    def send(self, target: str) -> None:
        """Ask for a target that no HTTP library would send."""
        with self.connection() as connection:
            connection.sendall(self.head("GET", target, "Connection: close"))
            assert connection.recv(12).startswith(b"HTTP/1.1 ")

    def flying(self) -> frozenset[str]:
        """Return what the agent has in flight."""
        return in_flight(self.log.read(self.since, user=self.user), self.user)

    def end(self, start: str) -> tuple[AuditRecord, ...]:
        """Set the end marker and return the slice."""
        end = f"end-{secrets.token_hex(4)}"
        self._mark(end)
        return slice_of(self.log.read(self.since), user=self.user, start=start, end=end)

    def begin(self) -> str:
        """Set the start marker."""
        start = f"start-{secrets.token_hex(4)}"
        self._mark(start)
        return start

    def _mark(self, text: str) -> None:
        # This cluster need not have LabRuns; the log has the request all the same.
        with suppress(NotFoundError):
            mark(self.client, self.namespace, text)


@pytest.fixture
def stage(client: KubeClient, cluster: Cluster, namespace: str) -> Iterator[Stage]:
    assert cluster.audit_log_path is not None
    log = AuditLog(Path(cluster.audit_log_path))
    since = log.end()
    employ(client, namespace, "agent", "get", "list", "watch", "create", "delete")
    token = client.request_token(namespace, "agent", lifetime_s=600)
    agent = KubeClient.from_token(server=cluster.server, ca_pem=cluster.ca_pem, token=token)
    yield Stage(
        client=client,
        agent=agent,
        namespace=namespace,
        log=log,
        since=since,
        token=token,
        cluster=cluster,
    )
    agent.close()


def test_only_what_the_agent_did_between_the_markers_is_in_the_slice(stage: Stage) -> None:
    stage.agent.ask("GET", f"{stage.path}/before")
    start = stage.begin()
    stage.agent.create(SCRATCHES, scratch("one", n=1), namespace=stage.namespace)
    stage.client.create(SCRATCHES, scratch("the-harness"), namespace=stage.namespace)
    probe = stage.client.as_service_account(stage.namespace, "agent")
    probe.create(SCRATCHES, scratch("a-probe"), namespace=stage.namespace)
    records = stage.end(start)

    assert [(one.verb, one.name, one.code) for one in records] == [("create", "one", 201)]
    assert records[0].body["spec"] == {"n": 1}
    assert records[0].writes


def test_a_name_that_the_server_made_up_is_known(stage: Stage) -> None:
    start = stage.begin()
    made = stage.agent.create(SCRATCHES, scratch(), namespace=stage.namespace)
    records = stage.end(start)

    assert [one.name for one in records] == [made["metadata"]["name"]]


@pytest.mark.parametrize(
    ("query", "body", "dry"),
    [
        ({}, None, False),
        ({"dryRun": "All"}, None, True),
        ({}, DRY, True),
        ({}, WET, False),
        ({"dryRun": "All"}, WET, False),
    ],
)
def test_a_delete_is_a_dry_run_exactly_when_the_server_took_it_for_one(
    stage: Stage, query: dict[str, str], body: dict[str, object] | None, *, dry: bool
) -> None:
    stage.client.create(SCRATCHES, scratch("one"), namespace=stage.namespace)
    start = stage.begin()
    stage.agent.call("DELETE", f"{stage.path}/one", query=query, body=body)
    records = stage.end(start)

    still_there = stage.client.find(SCRATCHES, "one", namespace=stage.namespace) is not None
    assert [one.dry_run for one in records] == [dry]
    assert [one.writes for one in records] == [not dry]
    assert still_there is dry


def test_a_create_that_says_dry_run_in_its_body_is_a_create(stage: Stage) -> None:
    start = stage.begin()
    manifest = {**scratch("one"), "dryRun": ["All"]}
    stage.agent.call("POST", stage.path, body=manifest)
    stage.agent.call("POST", stage.path, query={"dryRun": "All"}, body=scratch("two"))
    records = stage.end(start)

    assert [(one.name, one.dry_run) for one in records] == [("one", False), ("two", True)]
    assert stage.client.find(SCRATCHES, "one", namespace=stage.namespace) is not None
    assert stage.client.find(SCRATCHES, "two", namespace=stage.namespace) is None


def test_requests_that_share_an_audit_id_of_the_agents_choice_are_told_apart(
    stage: Stage,
) -> None:
    api = stage.agent._api
    forger = KubeClient(
        api, headers={"Authorization": f"Bearer {stage.token}", "Audit-ID": "the-same"}
    )
    start = stage.begin()
    forger.create(SCRATCHES, scratch("one"), namespace=stage.namespace)
    forger.delete(SCRATCHES, "one", namespace=stage.namespace)
    forger.list_objects(SCRATCHES, namespace=stage.namespace)
    records = stage.end(start)

    assert {one.audit_id for one in records} == {"the-same"}
    assert [(one.verb, one.name) for one in records] == [
        ("create", "one"),
        ("delete", "one"),
        ("list", ""),
    ]


def test_who_refused_is_told(stage: Stage) -> None:
    start = stage.begin()
    stage.agent.ask(
        "PATCH", f"{stage.path}/one", body={}, content_type="application/merge-patch+json"
    )
    stage.agent.ask("POST", stage.path, body=scratch("one", n=10))
    stage.agent.ask("GET", f"{stage.path}/missing")
    records = stage.end(start)

    assert [(one.verb, one.code, one.refused_by, one.body is None) for one in records] == [
        ("patch", 403, "rbac", True),
        ("create", 422, "schema", False),
        ("get", 404, "other", True),
    ]


def test_nothing_but_the_authenticated_user_says_whose_a_request_is(stage: Stage) -> None:
    api, user = stage.agent._api, stage.user
    bearer = {"Authorization": f"Bearer {stage.token}"}
    as_admin = KubeClient(api, headers={**bearer, "Impersonate-User": "strandline:admin"})
    start = stage.begin()
    stage.client.call(
        "POST", stage.path, query={"fieldManager": user[-128:]}, body=scratch("the-harness")
    )
    stage.client.call("GET", stage.path, query={"labelSelector": f"by={user.rpartition(':')[2]}"})
    stage.agent.call(
        "POST", stage.path, query={"fieldManager": "strandline:admin"}, body=scratch("the-agents")
    )
    refused = as_admin.ask("POST", stage.path, body=scratch("as-admin"))
    event = stage.agent.ask("POST", f"/api/v1/namespaces/{stage.namespace}/events", body={})
    records = stage.end(start)

    assert (refused.status, event.status) == (403, 403)
    assert [(one.verb, one.resource, one.name, one.refused_by) for one in records] == [
        ("create", "scratches", "the-agents", None),
        ("create", "scratches", "", "rbac"),
        ("create", "events", "", "rbac"),
    ]
    assert {one.credential for one in records} == {credential_of_token(stage.token)}


def test_another_token_of_the_same_user_has_no_grade(stage: Stage) -> None:
    token = stage.client.request_token(stage.namespace, "agent", lifetime_s=600)
    other = KubeClient.from_token(
        server=stage.cluster.server, ca_pem=stage.cluster.ca_pem, token=token
    )
    start = stage.begin()
    stage.agent.ask("GET", f"{stage.path}/one")
    with closing(other):
        other.ask("GET", f"{stage.path}/two")

    with pytest.raises(EvidenceGapError) as caught:
        stage.end(start)

    message = str(caught.value)
    assert f"/two') came as {stage.user!r} with token {credential_of_token(token)!r}" in message
    assert message.endswith(f"expected {credential_of_token(stage.token)!r} only")
    assert token not in message


def test_a_dry_run_by_query_is_told_for_every_verb(stage: Stage) -> None:
    calls = {
        "create": ("POST", "", scratch("one")),
        "update": ("PUT", "/one", scratch("one", n=2)),
        "patch": ("PATCH", "/one", {}),
        "delete": ("DELETE", "/one", None),
        "deletecollection": ("DELETE", "", None),
    }
    start = stage.begin()
    for verb, (method, name, body) in calls.items():
        content = "application/merge-patch+json" if verb == "patch" else "application/json"
        for query in ({"dryRun": "All"}, {}):
            stage.agent.ask(
                method, f"{stage.path}{name}", query=query, body=body, content_type=content
            )
    records = stage.end(start)

    assert [(one.verb, one.dry_run, one.writes) for one in records] == [
        (verb, dry, not dry) for verb in calls for dry in (True, False)
    ]


def test_what_a_read_covered_is_on_record(stage: Stage) -> None:
    stage.client.create(SCRATCHES, scratch("one"), namespace=stage.namespace)
    start = stage.begin()
    for selector in ("metadata.name=one", "metadata.name=two"):
        stage.agent.call("GET", stage.path, query={"fieldSelector": selector, "limit": "500"})
    stage.agent.call("GET", stage.path, query={"labelSelector": "a in (b, c)"})
    records = stage.end(start)

    assert [one.selectors for one in records] == [
        {"fieldSelector": "metadata.name=one", "limit": "500"},
        {"fieldSelector": "metadata.name=two", "limit": "500"},
        {"labelSelector": "a in (b, c)"},
    ]
    assert [saw([one], "scratches", "one") for one in records] == [True, False, False]
    assert saw(records[2:], "scratches", "one", labels={"a": "c"})


def test_a_target_that_is_no_url_does_not_spoil_the_record(stage: Stage) -> None:
    start = stage.begin()
    stage.send("//[x?strandlineMark=%ff")
    stage.send("/%zz?%zz=1;dryRun=All#?")
    stage.agent.ask("GET", f"{stage.path}/one")
    records = stage.end(start)

    assert records[-1].name == "one"


def test_an_open_watch_is_in_flight_until_it_is_cut(stage: Stage) -> None:
    _, version = stage.agent.list_at(SCRATCHES, namespace=stage.namespace)
    watched = stage.agent.watch(
        SCRATCHES, namespace=stage.namespace, resource_version=version, timeout_s=60
    )
    stage.client.create(SCRATCHES, scratch("one"), namespace=stage.namespace)
    assert next(watched)[0] == "ADDED"
    assert len(in_flight(stage.log.read(stage.since), stage.user)) == 1

    watched.close()  # type: ignore[attr-defined]  # a generator, announced as an iterator

    wait_until(
        lambda: in_flight(stage.log.read(stage.since), stage.user),
        lambda left: not left,
        what="end of the watch in the log",
        timeout_s=10,
    )


def test_a_write_whose_body_never_comes_has_its_end_when_its_connection_is_gone(
    stage: Stage,
) -> None:
    head = stage.head("POST", stage.path, "Content-Type: application/json", "Content-Length: 999")
    start = stage.begin()
    with stage.connection() as connection:
        connection.sendall(head + b'{"kind":')
        begun = wait_until(stage.flying, lambda found: len(found) == 1, what="begin", timeout_s=10)
    wait_until(stage.flying, lambda found: not found, what="end", timeout_s=10)
    (record,) = stage.end(start)

    assert len(begun) == 1
    assert (record.verb, record.code >= 400) == ("create", True)


def test_a_marker_that_was_never_set_is_a_gap(stage: Stage) -> None:
    start = stage.begin()

    with pytest.raises(EvidenceGapError, match="marker 'never' found 0 times"):
        slice_of(stage.log.read(stage.since), user=stage.user, start=start, end="never")
