"""The webhook's registration with the API server, without Terraform: made, waited for, unmade."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from harness.cluster.provider import Cluster
from harness.core.waiting import wait_until
from harness.kube.client import APPLY_PATCH, KubeClient
from harness.kube.resources import LAB_GROUP, LAB_RUNS, Resource


def apply(client: KubeClient, manifest: Mapping[str, Any], resource: Resource) -> None:
    namespace = manifest["metadata"].get("namespace")
    client.call(
        "PATCH",
        resource.path(namespace, manifest["metadata"]["name"]),
        query={"fieldManager": "tests", "force": "true"},
        body=manifest,
        content_type=APPLY_PATCH,
    )


def kind_of(group: str, plural: str, kind: str) -> Resource:
    return Resource(group=group, version="v1", plural=plural, kind=kind, namespaced=False)


_ADMISSION = "admissionregistration.k8s.io"


def register(client: KubeClient, cluster: Cluster) -> None:
    ca_bundle = base64.b64encode(cluster.webhook_ca_pem).decode()
    for path, kind, operations in (
        ("mutate", "MutatingWebhookConfiguration", ["CREATE", "UPDATE"]),
        ("validate", "ValidatingWebhookConfiguration", ["CREATE", "UPDATE", "DELETE"]),
    ):
        manifest = {
            "apiVersion": f"{_ADMISSION}/v1",
            "kind": kind,
            "metadata": {"name": f"strandline-{path}"},
            "webhooks": [
                {
                    "name": f"{path}.lab.strandline.dev",
                    "admissionReviewVersions": ["v1"],
                    "failurePolicy": "Fail",
                    "sideEffects": "None",
                    "timeoutSeconds": 3,
                    "clientConfig": {
                        "url": f"https://127.0.0.1:{cluster.webhook_port}/{path}",
                        "caBundle": ca_bundle,
                    },
                    "rules": [
                        {
                            "apiGroups": [LAB_GROUP],
                            "apiVersions": ["*"],
                            "operations": operations,
                            "resources": ["labruns", "attestations", "notes", "approvals"],
                        }
                    ],
                }
            ],
        }
        apply(client, manifest, kind_of(_ADMISSION, f"{kind.lower()}s", kind))


def wait_for_webhook(admin: KubeClient, *, there: bool) -> None:
    """Wait until a run that the webhook alone refuses is refused, or is not."""
    manifest = {
        "apiVersion": LAB_RUNS.api_version,
        "kind": "LabRun",
        "metadata": {"name": "probe"},
        "spec": {"steps": [{"id": "a", "capability": "no.such"}]},
    }

    def probe() -> str:
        query = {"dryRun": "All"}
        answer = admin.ask("POST", LAB_RUNS.path("default"), body=manifest, query=query)
        return answer.message

    wait_until(
        probe,
        lambda text: ("no.such" in text) is there,
        what="webhook" if there else "no webhook",
        timeout_s=10,
        streak=3,
    )
