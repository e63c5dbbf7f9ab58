"""What the API server records of a write, under the policy that a cluster starts with."""

from __future__ import annotations

import http.client
import json
import secrets
from typing import Any

import pytest

from harness.cluster.embedded.probe import client_context
from harness.cluster.provider import Cluster
from harness.core.waiting import wait_until


def _post(cluster: Cluster, path: str, body: dict[str, Any]) -> int:
    pki = cluster.state_dir / "pki"
    connection = http.client.HTTPSConnection(
        "127.0.0.1",
        int(cluster.server.rpartition(":")[2]),
        context=client_context(ca=pki / "serving-ca.crt", certificate=pki / "admin.crt"),
    )
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def _events(cluster: Cluster, text: str) -> list[dict[str, Any]]:
    assert cluster.audit_log_path is not None
    lines = cluster.audit_log_path.read_text().splitlines()
    return [json.loads(line) for line in lines if text in line]


@pytest.fixture
def mark() -> str:
    return f"m{secrets.token_hex(6)}"


def test_a_write_is_recorded_before_and_after_with_what_was_sent(
    cluster: Cluster, mark: str
) -> None:
    body = {"metadata": {"name": mark}, "data": {"colour": "red"}}

    status = _post(cluster, f"/api/v1/namespaces/default/configmaps?fieldManager={mark}", body)

    before, after = _events(cluster, f"fieldManager={mark}")
    assert status == 201
    assert (before["stage"], after["stage"]) == ("RequestReceived", "ResponseComplete")
    assert after["level"] == "Request"
    assert after["requestObject"]["data"] == {"colour": "red"}


def test_the_body_of_a_secret_is_never_recorded(cluster: Cluster, mark: str) -> None:
    body = {"metadata": {"name": mark}, "stringData": {"password": f"hidden-{mark}"}}

    status = _post(cluster, f"/api/v1/namespaces/default/secrets?fieldManager={mark}", body)

    assert status == 201
    assert [event["level"] for event in _events(cluster, f"fieldManager={mark}")] == [
        "Metadata",
        "Metadata",
    ]
    assert _events(cluster, f"hidden-{mark}") == []


def test_a_write_of_the_laboratory_is_recorded_with_its_answer(cluster: Cluster, mark: str) -> None:
    path = f"/apis/lab.strandline.dev/v1alpha1/namespaces/default/notes?fieldManager={mark}"

    _post(cluster, path, {"metadata": {"name": mark}})

    levels = {event["level"] for event in _events(cluster, f"fieldManager={mark}")}
    assert levels == {"RequestResponse"}


def test_what_the_controllers_write_is_recorded_too(cluster: Cluster, mark: str) -> None:
    status = _post(cluster, "/api/v1/namespaces", {"metadata": {"name": mark}})

    events = wait_until(
        lambda: [
            event
            for event in _events(cluster, f"/namespaces/{mark}/serviceaccounts")
            if event["verb"] == "create"
        ],
        bool,
        what="record of a controller's write",
        timeout_s=10,
    )

    assert status == 201
    assert events[0]["user"]["username"] == (
        "system:serviceaccount:kube-system:service-account-controller"
    )
