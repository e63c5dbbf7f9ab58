"""Which objects the resources of a Kubernetes provider made, by type and by what the state says."""

from __future__ import annotations

from typing import Any

import pytest

from harness.terraform.typed_resources import object_fields


def _typed(**metadata: Any) -> dict[str, Any]:
    return {"metadata": [{"name": "a", "namespace": "n", "uid": "u", **metadata}]}


@pytest.mark.parametrize(
    ("type_name", "api_version", "kind"),
    [
        ("kubernetes_config_map", "v1", "ConfigMap"),
        ("kubernetes_config_map_v1", "v1", "ConfigMap"),
        (
            "kubernetes_cluster_role_binding_v1",
            "rbac.authorization.k8s.io/v1",
            "ClusterRoleBinding",
        ),
        (
            "kubernetes_horizontal_pod_autoscaler_v2beta2",
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
        ),
    ],
)
def test_a_type_stands_for_a_kind_whatever_its_version(
    type_name: str, api_version: str, kind: str
) -> None:
    assert object_fields(type_name, _typed()) == {
        "api_version": api_version,
        "kind": kind,
        "namespace": "n",
        "name": "a",
        "uid": "u",
    }


def test_what_is_cluster_scoped_has_no_namespace() -> None:
    found = object_fields("kubernetes_namespace", _typed(namespace=None))

    assert found is not None
    assert found["namespace"] == ""


@pytest.mark.parametrize(
    ("type_name", "attributes"),
    [
        ("kubernetes_config_map", _typed(uid=None)),
        ("kubernetes_config_map", {"metadata": []}),
        ("kubernetes_config_map", {}),
        ("kubernetes_labels", _typed()),
        ("kubernetes_default_service_account", _typed()),
        ("kubernetes_manifest", {"object": {"kind": "ConfigMap"}}),
        ("helm_release", {"name": "a", "uid": "u"}),
        ("kubectl_manifest", {"api_version": "v1", "kind": "ConfigMap", "name": "a", "uid": None}),
    ],
)
def test_what_made_no_object_that_the_state_can_tell_is_none(
    type_name: str, attributes: dict[str, Any]
) -> None:
    assert object_fields(type_name, attributes) is None
