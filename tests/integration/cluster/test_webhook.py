"""The admission webhook of a cluster: who signs it, and who it is at the API server."""

from __future__ import annotations

import http.client
import json
import ssl
from typing import Any

import yaml

from harness.cluster.embedded.probe import client_context, https_get
from harness.cluster.provider import Cluster


def _review(port: int, body: dict[str, Any], ca_pem: bytes) -> tuple[int, Any]:
    context = ssl.create_default_context(cadata=ca_pem.decode())
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context)
    try:
        connection.request(
            "POST", "/validate", json.dumps(body), {"Content-Type": "application/json"}
        )
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_the_webhook_serves_on_the_clusters_port_under_its_authority(cluster: Cluster) -> None:
    status, answer = _review(cluster.webhook_port or 0, {}, cluster.webhook_ca_pem)

    assert "webhook" in cluster.capabilities
    assert status == 200
    assert answer["kind"] == "AdmissionReview"
    assert answer["response"]["allowed"] is False


def test_the_webhook_is_an_identity_of_its_own_with_no_rights_by_itself(cluster: Cluster) -> None:
    pki = cluster.state_dir / "pki"
    context = client_context(ca=pki / "serving-ca.crt", certificate=pki / "webhook-client.crt")

    status, body = https_get(
        int(cluster.server.rpartition(":")[2]), "/api/v1/secrets", context=context
    )

    assert status == 403
    assert '"strandline:webhook" cannot list' in json.loads(body)["message"]
    config = yaml.safe_load((cluster.state_dir / "webhook.kubeconfig").read_text())
    assert config["clusters"][0]["cluster"]["server"] == cluster.server
