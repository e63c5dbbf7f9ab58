"""A laboratory on the embedded cluster: real API server, real processes, one namespace a test."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cluster.provider import Cluster
from harness.core.waiting import wait_until
from harness.kube.client import APPLY_PATCH, KubeClient
from harness.kube.resources import LAB_GROUP, LAB_KINDS, LAB_RUNS, Resource
from tests.integration.lab.bench import BALANCE, COLORIMETER, MIXER, ROBOT, RULES
from tests.integration.lab.laboratory import Lab

ROOT = Path(__file__).resolve().parents[3]
CRDS = ROOT / "tf" / "modules" / "lab_api" / "crds"

_READ: dict[str, Any] = {
    "apiGroups": [LAB_GROUP],
    "resources": ["*"],
    "verbs": ["get", "list", "watch"],
}
_OPERATOR = [
    _READ,
    {
        "apiGroups": [LAB_GROUP],
        "resources": ["labruns"],
        "verbs": ["create", "update", "patch", "delete"],
    },
    {"apiGroups": [LAB_GROUP], "resources": ["attestations"], "verbs": ["create"]},
]
_RULES: dict[str, list[dict[str, Any]]] = {
    "agent": _OPERATOR,
    "colleague": _OPERATOR,
    "previous-operator": _OPERATOR,
    "approver": [_READ],
    "grader": [_READ],
    "controller": [
        _READ,
        {"apiGroups": [LAB_GROUP], "resources": ["labtasks", "labevents"], "verbs": ["create"]},
        {
            "apiGroups": [LAB_GROUP],
            "resources": [
                "labruns/status",
                "labtasks/status",
                "instruments/status",
                "attestations/status",
            ],
            "verbs": ["patch"],
        },
    ],
    "harness": [{"apiGroups": [LAB_GROUP], "resources": ["*"], "verbs": ["*"]}],
}


def apply(client: KubeClient, manifest: Mapping[str, Any], resource: Resource) -> None:
    namespace = manifest["metadata"].get("namespace")
    client.call(
        "PATCH",
        resource.path(namespace, manifest["metadata"]["name"]),
        query={"fieldManager": "tests", "force": "true"},
        body=manifest,
        content_type=APPLY_PATCH,
    )


def _kind(group: str, plural: str, kind: str) -> Resource:
    return Resource(group=group, version="v1", plural=plural, kind=kind, namespaced=False)


_ADMISSION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"


def _register(client: KubeClient, cluster: Cluster) -> None:
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
                            "resources": ["labruns", "attestations"],
                        }
                    ],
                }
            ],
        }
        apply(client, manifest, _kind(_ADMISSION, f"{kind.lower()}s", kind))


def _grant(client: KubeClient) -> None:
    roles = {**_RULES, "webhook": [_READ]}
    for name, rules in roles.items():
        manifest = {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": f"strandline:{name}"},
            "rules": rules,
        }
        apply(client, manifest, _kind(_RBAC, "clusterroles", "ClusterRole"))
    binding = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "strandline:webhook"},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "strandline:webhook"},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": "strandline:webhook"}],
    }
    apply(client, binding, _kind(_RBAC, "clusterrolebindings", "ClusterRoleBinding"))


@pytest.fixture(scope="session")
def admin(cluster: Cluster) -> Iterator[KubeClient]:
    client = KubeClient.from_kubeconfig(cluster.kubeconfig)
    for path in sorted(CRDS.glob("*.yaml")):
        manifest = yaml.safe_load(path.read_text())
        resource = _kind(
            "apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition"
        )
        apply(client, manifest, resource)
    for resource in LAB_KINDS:
        wait_until(
            partial(client.ask, "GET", resource.path()),
            lambda answer: answer.status == 200,
            what=resource.plural,
            timeout_s=10,
        )
    _grant(client)
    _register(client, cluster)
    yield client
    client.close()


@pytest.fixture(scope="session")
def registered(admin: KubeClient) -> KubeClient:
    """The admin's client, once the webhook really answers."""
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

    wait_until(probe, lambda text: "no.such" in text, what="webhook", timeout_s=10)
    return admin


@pytest.fixture
def bare_lab(cluster: Cluster, registered: KubeClient, tmp_path: Path) -> Iterator[Lab]:
    """Mixing takes 1 s; the instruments are on, and no controller works yet."""
    lab = Lab(cluster, registered, tmp_path)
    try:
        lab.furnish([MIXER, BALANCE, COLORIMETER, ROBOT], RULES)
        lab.start_instruments()
        yield lab
    finally:
        lab.end()


@pytest.fixture
def lab(bare_lab: Lab) -> Lab:
    """The same, with a controller at work."""
    bare_lab.start_controller()
    return bare_lab
