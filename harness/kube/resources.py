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


def _namespaced(group: str, plural: str, kind: str, *, version: str = "v1") -> Resource:
    return Resource(group=group, version=version, plural=plural, kind=kind)


def _cluster_scoped(group: str, plural: str, kind: str) -> Resource:
    return Resource(group=group, version="v1", plural=plural, kind=kind, namespaced=False)


def _lab(plural: str, kind: str) -> Resource:
    return _namespaced(LAB_GROUP, plural, kind, version=LAB_VERSION)


INSTRUMENTS = _lab("instruments", "Instrument")
CAPABILITIES = _lab("capabilities", "Capability")
LAB_POLICIES = _lab("labpolicies", "LabPolicy")
LAB_RUNS = _lab("labruns", "LabRun")
LAB_TASKS = _lab("labtasks", "LabTask")
ATTESTATIONS = _lab("attestations", "Attestation")
NOTES = _lab("notes", "Note")
APPROVALS = _lab("approvals", "Approval")
LAB_EVENTS = _lab("labevents", "LabEvent")

#: Every kind of the laboratory, in the order in which evidence lists them.
LAB_KINDS = (
    INSTRUMENTS,
    CAPABILITIES,
    LAB_POLICIES,
    LAB_RUNS,
    LAB_TASKS,
    ATTESTATIONS,
    NOTES,
    APPROVALS,
    LAB_EVENTS,
)

_CORE = ""
_RBAC = "rbac.authorization.k8s.io"
_ADMISSION = "admissionregistration.k8s.io"

NAMESPACES = _cluster_scoped(_CORE, "namespaces", "Namespace")
CONFIG_MAPS = _namespaced(_CORE, "configmaps", "ConfigMap")
SERVICE_ACCOUNTS = _namespaced(_CORE, "serviceaccounts", "ServiceAccount")
SECRETS = _namespaced(_CORE, "secrets", "Secret")
ROLES = _namespaced(_RBAC, "roles", "Role")
ROLE_BINDINGS = _namespaced(_RBAC, "rolebindings", "RoleBinding")
CLUSTER_ROLES = _cluster_scoped(_RBAC, "clusterroles", "ClusterRole")
CLUSTER_ROLE_BINDINGS = _cluster_scoped(_RBAC, "clusterrolebindings", "ClusterRoleBinding")
VALIDATING_POLICIES = _cluster_scoped(
    _ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy"
)
VALIDATING_POLICY_BINDINGS = _cluster_scoped(
    _ADMISSION, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"
)
MUTATING_WEBHOOKS = _cluster_scoped(
    _ADMISSION, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration"
)
VALIDATING_WEBHOOKS = _cluster_scoped(
    _ADMISSION, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration"
)
CUSTOM_RESOURCE_DEFINITIONS = _cluster_scoped(
    "apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition"
)
API_SERVICES = _cluster_scoped("apiregistration.k8s.io", "apiservices", "APIService")

#: Asking what oneself may do; cannot be listed, so no discovery of ours finds it.
SELF_SUBJECT_ACCESS_REVIEWS = _cluster_scoped(
    "authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"
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
        API_SERVICES,
        SELF_SUBJECT_ACCESS_REVIEWS,
    )
}

_BY_KIND: Mapping[str, Resource] = {resource.kind: resource for resource in KNOWN.values()}


def resource_of_kind(kind: str) -> Resource | None:
    """Return the known resource of a kind, for example of `LabRun`. Pure."""
    return _BY_KIND.get(kind)


def resources_of_discovery(groups: Mapping[str, Mapping[str, Any]]) -> tuple[Resource, ...]:
    """Return what can be listed and deleted, from discovery documents; each kind once.

    Args:
        groups: `group/version` (or `v1`) to its APIResourceList; the first that has a kind wins.
    """
    found: dict[tuple[str, str], Resource] = {}
    for group_version, document in groups.items():
        group, _, version = group_version.rpartition("/")
        for entry in document.get("resources", ()):
            if "/" in entry["name"] or not {"list", "delete"} <= set(entry["verbs"]):
                continue
            resource = Resource(
                group=group,
                version=version,
                plural=entry["name"],
                kind=entry["kind"],
                namespaced=entry["namespaced"],
            )
            found.setdefault((group, resource.plural), resource)
    return tuple(found[key] for key in sorted(found))
