"""Which objects a state answers for, and what goes with a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from harness.terraform.manifests import (
    AppliedManifest,
    applied_manifests,
    is_in_a_cluster,
    names_a_cluster_type,
)
from harness.terraform.states import StateResource


def _resource(name: str, *, kind: str = "kubectl_manifest", **values: Any) -> StateResource:
    fields = {"api_version": "v1", "kind": "ConfigMap", "name": name, "namespace": "n", "uid": name}
    return StateResource(
        address=f"{kind}.{name}",
        provider="gavinbunney/kubectl",
        type=kind,
        managed=True,
        attributes={**fields, **values},
    )


def test_objects_are_told_with_their_uids_and_without_content() -> None:
    resources = [
        _resource("b", kind="null_resource"),
        _resource("c", namespace=None),
        _resource("never-made", uid=None),
        _resource("a", yaml_body="secret"),
    ]

    assert applied_manifests(resources) == (
        AppliedManifest(api_version="v1", kind="ConfigMap", namespace="", name="c", uid="c"),
        AppliedManifest(api_version="v1", kind="ConfigMap", namespace="n", name="a", uid="a"),
    )


@pytest.mark.parametrize(
    ("provider", "expected"),
    [("gavinbunney/kubectl", True), ("hashicorp/helm", True), ("hashicorp/aws", False)],
)
def test_only_what_a_provider_of_clusters_made_goes_with_one(
    provider: str, *, expected: bool
) -> None:
    resource = StateResource(
        address="x.y", provider=provider, type="x", managed=True, attributes={}
    )

    assert is_in_a_cluster(resource) is expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("kubectl_manifest.a", True),
        ('module.x["b.c"].kubernetes_secret.a', True),
        ("module.x.kubernetes_secret.a[0]", True),
        ("terraform_data.kubectl_manifest", False),
        ("kubectl_manifest", False),
    ],
)
def test_a_type_in_an_address_tells_the_same(address: str, *, expected: bool) -> None:
    assert names_a_cluster_type(address) is expected
