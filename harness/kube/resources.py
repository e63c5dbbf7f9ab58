"""What a kind of object is called on the wire, and which kinds a cluster has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LAB_GROUP = "lab.strandline.dev"
LAB_VERSION = "v1alpha1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One kind of object.

    Attributes:
        group: API group; empty for the core group.
        version: API version within the group.
        plural: Name in URLs, for example `labruns`.
        kind: Name in manifests, for example `LabRun`.
        namespaced: Whether objects live in a namespace.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """Return `group/version`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """Return `plural.group` as kubectl writes it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(
        self, namespace: str | None = None, name: str | None = None, subresource: str | None = None
    ) -> str:
        """Return the URL path of a collection, an object or its subresource. Pure."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        parts = [root]
        if self.namespaced and namespace is not None:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        if name is not None:
            parts.append(name)
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


def _lab(plural: str, kind: str) -> Resource:
    return Resource(group=LAB_GROUP, version=LAB_VERSION, plural=plural, kind=kind)


INSTRUMENTS = _lab("instruments", "Instrument")
CAPABILITIES = _lab("capabilities", "Capability")
LAB_POLICIES = _lab("labpolicies", "LabPolicy")
LAB_RUNS = _lab("labruns", "LabRun")
LAB_TASKS = _lab("labtasks", "LabTask")
ATTESTATIONS = _lab("attestations", "Attestation")
LAB_EVENTS = _lab("labevents", "LabEvent")

#: Every kind of the laboratory, in the order in which evidence lists them.
LAB_KINDS = (
    INSTRUMENTS,
    CAPABILITIES,
    LAB_POLICIES,
    LAB_RUNS,
    LAB_TASKS,
    ATTESTATIONS,
    LAB_EVENTS,
)

NAMESPACES = Resource(
    group="", version="v1", plural="namespaces", kind="Namespace", namespaced=False
)
CONFIG_MAPS = Resource(group="", version="v1", plural="configmaps", kind="ConfigMap")
SERVICE_ACCOUNTS = Resource(group="", version="v1", plural="serviceaccounts", kind="ServiceAccount")
SECRETS = Resource(group="", version="v1", plural="secrets", kind="Secret")
_RBAC = "rbac.authorization.k8s.io"
ROLES = Resource(group=_RBAC, version="v1", plural="roles", kind="Role")
ROLE_BINDINGS = Resource(group=_RBAC, version="v1", plural="rolebindings", kind="RoleBinding")
CLUSTER_ROLES = Resource(
    group=_RBAC, version="v1", plural="clusterroles", kind="ClusterRole", namespaced=False
)
CLUSTER_ROLE_BINDINGS = Resource(
    group=_RBAC,
    version="v1",
    plural="clusterrolebindings",
    kind="ClusterRoleBinding",
    namespaced=False,
)
_ADMISSION = "admissionregistration.k8s.io"
VALIDATING_POLICIES = Resource(
    group=_ADMISSION,
    version="v1",
    plural="validatingadmissionpolicies",
    kind="ValidatingAdmissionPolicy",
    namespaced=False,
)
VALIDATING_POLICY_BINDINGS = Resource(
    group=_ADMISSION,
    version="v1",
    plural="validatingadmissionpolicybindings",
    kind="ValidatingAdmissionPolicyBinding",
    namespaced=False,
)
MUTATING_WEBHOOKS = Resource(
    group=_ADMISSION,
    version="v1",
    plural="mutatingwebhookconfigurations",
    kind="MutatingWebhookConfiguration",
    namespaced=False,
)
VALIDATING_WEBHOOKS = Resource(
    group=_ADMISSION,
    version="v1",
    plural="validatingwebhookconfigurations",
    kind="ValidatingWebhookConfiguration",
    namespaced=False,
)
CUSTOM_RESOURCE_DEFINITIONS = Resource(
    group="apiextensions.k8s.io",
    version="v1",
    plural="customresourcedefinitions",
    kind="CustomResourceDefinition",
    namespaced=False,
)

#: Asking what oneself may do; cannot be listed, so no discovery of ours finds it.
SELF_SUBJECT_ACCESS_REVIEWS = Resource(
    group="authorization.k8s.io",
    version="v1",
    plural="selfsubjectaccessreviews",
    kind="SelfSubjectAccessReview",
    namespaced=False,
)

#: Kinds that can be named in a spec without asking the cluster what it has.
KNOWN: Mapping[str, Resource] = {
    resource.qualified: resource
    for resource in (
        *LAB_KINDS,
        NAMESPACES,
        CONFIG_MAPS,
        SERVICE_ACCOUNTS,
        SECRETS,
        ROLES,
        ROLE_BINDINGS,
        CLUSTER_ROLES,
        CLUSTER_ROLE_BINDINGS,
        VALIDATING_POLICIES,
        VALIDATING_POLICY_BINDINGS,
        MUTATING_WEBHOOKS,
        VALIDATING_WEBHOOKS,
        CUSTOM_RESOURCE_DEFINITIONS,
        SELF_SUBJECT_ACCESS_REVIEWS,
    )
}

_BY_KIND: Mapping[str, Resource] = {resource.kind: resource for resource in KNOWN.values()}


def resource_of_kind(kind: str) -> Resource | None:
    """Return the known resource of a kind, for example of `LabRun`. Pure."""
    return _BY_KIND.get(kind)


def resources_of_discovery(groups: Mapping[str, Mapping[str, Any]]) -> tuple[Resource, ...]:
    """Return what can be listed and deleted, from discovery documents.

    Args:
        groups: `group/version` (or `v1`) to its APIResourceList.
    """
    found = []
    for group_version, document in groups.items():
        group, _, version = group_version.rpartition("/")
        for entry in document.get("resources", ()):
            if "/" in entry["name"] or not {"list", "delete"} <= set(entry["verbs"]):
                continue
            found.append(
                Resource(
                    group=group,
                    version=version,
                    plural=entry["name"],
                    kind=entry["kind"],
                    namespaced=entry["namespaced"],
                )
            )
    return tuple(sorted(found, key=lambda resource: (resource.group, resource.plural)))
