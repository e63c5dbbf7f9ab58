"""What of a state is in a Kubernetes cluster: which objects by UID, and whose resources at all.

Pure. The UID is what the API server gave to the object that our apply made, so whoever makes one
of the same name later is told apart. `stack` calls it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from harness.terraform.states import StateResource
from harness.terraform.typed_resources import object_fields

#: Providers of which every resource is in a cluster and goes with it. The list is closed: a
#: provider that is not here may have made something elsewhere.
_PROVIDERS = frozenset(
    {
        *("gavinbunney/kubectl", "alekc/kubectl", "hashicorp/kubernetes", "hashicorp/helm"),
        *("hashicorp/kubernetes-alpha", "kbst/kustomization"),
    }
)

#: A key of `for_each` or `count`; a quoted one may hold brackets and dots.
_KEY = re.compile(r'\[(?:"(?:[^"\\]|\\.)*"|\d+)\]')

#: How the resource types of these providers begin.
_TYPES = ("kubectl_", "kubernetes_", "helm_", "kustomization_")


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedManifest:
    """One object as it was applied.

    Attributes:
        namespace: Empty for what is cluster-scoped.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


def applied_manifests(resources: Iterable[StateResource]) -> tuple[AppliedManifest, ...]:
    """Return the objects that a state names, sorted by kind, namespace and name. Pure.

    What was never given a UID was never made.
    """
    found = (
        AppliedManifest(**fields)
        for one in resources
        if one.managed and (fields := object_fields(one.type, one.attributes))
    )
    return tuple(sorted(found, key=lambda one: (one.kind, one.namespace, one.name)))


def is_in_a_cluster(resource: StateResource) -> bool:
    """Tell whether a resource goes with the cluster that it was made in. Pure."""
    return resource.provider in _PROVIDERS


def names_a_cluster_type(address: str) -> bool:
    """Tell the same of an address that stands in no state, by the type in it. Pure."""
    parts = _KEY.sub("", address).split(".")
    return len(parts) > 1 and parts[-2].startswith(_TYPES)
