"""What counts as a platform of somebody's, before ours is applied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.bench.inventory import is_platform
from harness.bench.layout import Layout, policy_names
from harness.core.naming import PLATFORM_LABEL
from harness.kube.resources import (
    CLUSTER_ROLES,
    CUSTOM_RESOURCE_DEFINITIONS,
    MUTATING_WEBHOOKS,
    NAMESPACES,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    Resource,
)

_ROOT = Path(__file__).resolve().parents[3]
_POLICIES = frozenset({"guarded"})


def _item(name: str, *, label: bool = False) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {PLATFORM_LABEL: "true"} if label else None}}


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        (CLUSTER_ROLES, "strandline:agent"),
        (CUSTOM_RESOURCE_DEFINITIONS, "labruns.lab.strandline.dev"),
        (MUTATING_WEBHOOKS, "strandline-mutate"),
        (NAMESPACES, "strandline-system"),
        (VALIDATING_POLICIES, "guarded"),
        (VALIDATING_POLICY_BINDINGS, "guarded"),
    ],
)
def test_a_name_that_terraform_would_adopt_is_a_platforms(resource: Resource, name: str) -> None:
    assert is_platform(resource, _item(name), policies=_POLICIES)
    assert not is_platform(resource, _item(f"x-{name}-x"), policies=_POLICIES)


def test_a_label_makes_a_platform_of_all_but_a_namespace() -> None:
    assert is_platform(CLUSTER_ROLES, _item("any", label=True), policies=())
    assert not is_platform(NAMESPACES, _item("any", label=True), policies=())


def test_the_folder_of_an_admission_policy_has_the_name_of_all_that_it_makes() -> None:
    layout = Layout(root=_ROOT)

    found = {
        document["metadata"]["name"]
        for path in layout.policies_dir.glob("*/policy.yaml")
        for document in yaml.safe_load_all(path.read_text())
    }

    assert found
    assert policy_names(layout.policies_dir) == found
