"""What kinds are called, and which of a cluster's can be listed and deleted."""

from __future__ import annotations

from typing import Any

from harness.kube.resources import (
    CONFIG_MAPS,
    KNOWN,
    LAB_KINDS,
    LAB_RUNS,
    NAMESPACES,
    resource_of_kind,
    resources_of_discovery,
)

LAB_API = "/apis/lab.strandline.dev/v1alpha1"


def test_a_kind_knows_its_urls() -> None:
    assert LAB_RUNS.path() == f"{LAB_API}/labruns"
    assert LAB_RUNS.path("n") == f"{LAB_API}/namespaces/n/labruns"
    assert LAB_RUNS.path("n", "a", "status") == f"{LAB_API}/namespaces/n/labruns/a/status"
    assert CONFIG_MAPS.path("n", "a") == "/api/v1/namespaces/n/configmaps/a"


def test_a_cluster_wide_kind_has_no_namespace_in_its_urls() -> None:
    assert NAMESPACES.path(name="a") == "/api/v1/namespaces/a"
    assert NAMESPACES.path("ignored", "a") == "/api/v1/namespaces/a"


def test_a_kind_has_its_names() -> None:
    assert (LAB_RUNS.api_version, LAB_RUNS.qualified) == (
        "lab.strandline.dev/v1alpha1",
        "labruns.lab.strandline.dev",
    )
    assert (CONFIG_MAPS.api_version, CONFIG_MAPS.qualified) == ("v1", "configmaps")


def test_every_kind_of_the_laboratory_is_known_by_name_and_by_kind() -> None:
    assert {kind.qualified for kind in LAB_KINDS} <= KNOWN.keys()
    assert [resource_of_kind(kind.kind) for kind in LAB_KINDS] == list(LAB_KINDS)
    assert resource_of_kind("Stranger") is None


def _entry(name: str, kind: str, *verbs: str) -> dict[str, Any]:
    return {"name": name, "kind": kind, "namespaced": True, "verbs": list(verbs)}


def test_only_what_can_be_listed_and_deleted_is_discovered() -> None:
    documents = {
        "v1": {
            "resources": [
                _entry("configmaps", "ConfigMap", "list", "delete", "get"),
                _entry("bindings", "Binding", "create"),
                _entry("pods/status", "Pod", "list", "delete"),
            ]
        },
        "lab.strandline.dev/v1alpha1": {
            "resources": [_entry("labruns", "LabRun", "list", "delete")]
        },
    }

    assert resources_of_discovery(documents) == (CONFIG_MAPS, LAB_RUNS)
