"""A client of the embedded cluster, a kind of our own on it, and one namespace a test."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.cluster.provider import Cluster
from harness.core.waiting import wait_until
from harness.errors import KubeError
from harness.kube.client import KubeClient
from harness.kube.identity_guard import ProvenClient, prove_identity
from harness.kube.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    LAB_GROUP,
    NAMESPACES,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    Resource,
)
from harness.kube.sweep import sweep_namespace

#: A kind of the lab's group, whose writes the audit log keeps with their answers.
SCRATCHES = Resource(group=LAB_GROUP, version="v1", plural="scratches", kind="Scratch")

_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": SCRATCHES.qualified},
    "spec": {
        "group": SCRATCHES.group,
        "scope": "Namespaced",
        "names": {"plural": "scratches", "singular": "scratch", "kind": "Scratch"},
        "versions": [
            {
                "name": SCRATCHES.version,
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {"n": {"type": "integer", "maximum": 9}},
                            }
                        },
                    }
                },
            }
        ],
    },
}


@pytest.fixture(scope="session")
def client(cluster: Cluster) -> Iterator[ProvenClient]:
    plain = KubeClient.from_kubeconfig(cluster.kubeconfig)
    found = prove_identity(plain, plain.identity())
    yield found
    found.close()


@pytest.fixture(scope="session")
def kinds(client: KubeClient) -> Iterator[tuple[Resource, ...]]:
    """Return every kind of the cluster, Scratch among them."""
    client.create(CUSTOM_RESOURCE_DEFINITIONS, _CRD)
    wait_until(
        lambda: client.list_objects(SCRATCHES),
        lambda found: found == [],
        what="kind Scratch",
        timeout_s=20,
        tolerate=(KubeError,),  # 404, then 429 while its storage is made
    )
    wait_until(
        lambda: (
            client.ask(
                "POST", SCRATCHES.path("default"), query={"dryRun": "All"}, body=scratch(n=1)
            ).status
        ),
        lambda status: status == 201,
        what="kind Scratch, to be written",
        timeout_s=20,
    )
    yield client.discover()
    client.delete(CUSTOM_RESOURCE_DEFINITIONS, SCRATCHES.qualified)


MakeNamespace = Callable[[], str]


@pytest.fixture
def make_namespace(client: ProvenClient, kinds: tuple[Resource, ...]) -> Iterator[MakeNamespace]:
    """Return a maker of namespaces; each is swept after the test, and must leave nothing."""
    made: list[str] = []

    def make() -> str:
        name = f"kube-{secrets.token_hex(4)}"
        client.create(NAMESPACES, {"metadata": {"name": name}})
        made.append(name)
        wait_until(
            lambda: client.find(SERVICE_ACCOUNTS, "default", namespace=name),
            lambda found: found is not None,
            what=f"default account of {name}",
            timeout_s=20,
        )
        return name

    yield make
    assert [sweep_namespace(client, name, kinds=kinds).leftovers for name in made] == [
        () for _ in made
    ]


@pytest.fixture
def namespace(make_namespace: MakeNamespace) -> str:
    return make_namespace()


def scratch(name: str = "", **spec: Any) -> dict[str, Any]:
    """Return a Scratch; without a name the server makes one up."""
    metadata = {"name": name} if name else {"generateName": "made-up-"}
    kind = {"apiVersion": SCRATCHES.api_version, "kind": SCRATCHES.kind}
    return {**kind, "metadata": metadata, "spec": spec}


def employ(client: KubeClient, namespace: str, name: str, *verbs: str) -> None:
    """Make a ServiceAccount that may do this much to Scratches."""
    client.create(SERVICE_ACCOUNTS, {"metadata": {"name": name}}, namespace=namespace)
    rule = {"apiGroups": [LAB_GROUP], "resources": ["scratches"], "verbs": list(verbs)}
    client.create(ROLES, {"metadata": {"name": name}, "rules": [rule]}, namespace=namespace)
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }
    client.create(ROLE_BINDINGS, binding, namespace=namespace)
