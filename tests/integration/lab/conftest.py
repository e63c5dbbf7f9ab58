"""A laboratory on the embedded cluster: real API server, real processes, one namespace a test."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cluster.provider import Cluster
from harness.core.waiting import wait_until
from harness.kube.client import KubeClient
from harness.kube.resources import LAB_GROUP, LAB_KINDS
from tests.integration.lab.bench import BALANCE, COLORIMETER, MIXER, ROBOT, RULES
from tests.integration.lab.laboratory import Lab
from tests.integration.lab.registration import apply, kind_of, register, wait_for_webhook

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
    {"apiGroups": [LAB_GROUP], "resources": ["attestations", "notes"], "verbs": ["create"]},
]
_APPROVE = {"apiGroups": [LAB_GROUP], "resources": ["approvals"], "verbs": ["create"]}
_RULES: dict[str, list[dict[str, Any]]] = {
    "agent": _OPERATOR,
    "colleague": _OPERATOR,
    "previous-operator": _OPERATOR,
    "approver": [_READ, _APPROVE],
    "approves": [_APPROVE],
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


_RBAC = "rbac.authorization.k8s.io"


def _grant(client: KubeClient) -> None:
    roles = {**_RULES, "webhook": [_READ]}
    for name, rules in roles.items():
        manifest = {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": f"strandline:{name}"},
            "rules": rules,
        }
        apply(client, manifest, kind_of(_RBAC, "clusterroles", "ClusterRole"))
    binding = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "strandline:webhook"},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "strandline:webhook"},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": "strandline:webhook"}],
    }
    apply(client, binding, kind_of(_RBAC, "clusterrolebindings", "ClusterRoleBinding"))


@pytest.fixture(scope="session")
def admin(cluster: Cluster) -> Iterator[KubeClient]:
    client = KubeClient.from_kubeconfig(cluster.kubeconfig)
    for path in sorted(CRDS.glob("*.yaml")):
        manifest = yaml.safe_load(path.read_text())
        resource = kind_of(
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
    register(client, cluster)
    yield client
    client.close()


@pytest.fixture(scope="session")
def registered(admin: KubeClient) -> KubeClient:
    """The admin's client, once the webhook really answers."""
    wait_for_webhook(admin, there=True)
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
