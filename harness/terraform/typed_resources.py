"""Which object a resource of a Kubernetes provider made, as far as its state says so. Pure.

The state of a typed resource has name, namespace and UID, and its type stands for the kind. What a
`kubernetes_manifest` made has no UID in the state, and a `helm_release` names no object: those go
by Terraform alone, and no sweep knows them. `manifests` calls it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: Types of hashicorp/kubernetes, without prefix and version, to API group and kind. A type that is
#: not here is not known to make one object of its own: some only put labels on somebody else's.
_KINDS: Mapping[str, tuple[str, str]] = {
    "api_service": ("apiregistration.k8s.io/v1", "APIService"),
    "cluster_role": ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    "cluster_role_binding": ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    "config_map": ("v1", "ConfigMap"),
    "cron_job": ("batch/v1", "CronJob"),
    "daemon_set": ("apps/v1", "DaemonSet"),
    "daemonset": ("apps/v1", "DaemonSet"),
    "deployment": ("apps/v1", "Deployment"),
    "horizontal_pod_autoscaler": ("autoscaling/v2", "HorizontalPodAutoscaler"),
    "ingress": ("networking.k8s.io/v1", "Ingress"),
    "job": ("batch/v1", "Job"),
    "limit_range": ("v1", "LimitRange"),
    "mutating_webhook_configuration": (
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
    ),
    "namespace": ("v1", "Namespace"),
    "network_policy": ("networking.k8s.io/v1", "NetworkPolicy"),
    "persistent_volume": ("v1", "PersistentVolume"),
    "persistent_volume_claim": ("v1", "PersistentVolumeClaim"),
    "pod": ("v1", "Pod"),
    "pod_disruption_budget": ("policy/v1", "PodDisruptionBudget"),
    "priority_class": ("scheduling.k8s.io/v1", "PriorityClass"),
    "resource_quota": ("v1", "ResourceQuota"),
    "role": ("rbac.authorization.k8s.io/v1", "Role"),
    "role_binding": ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    "secret": ("v1", "Secret"),
    "service": ("v1", "Service"),
    "service_account": ("v1", "ServiceAccount"),
    "stateful_set": ("apps/v1", "StatefulSet"),
    "storage_class": ("storage.k8s.io/v1", "StorageClass"),
    "validating_webhook_configuration": (
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
    ),
}

_TYPE = re.compile(r"kubernetes_(?P<name>\w+?)(?:_v\d+(?:(?:alpha|beta)\d+)?)?$")


def object_fields(type_name: str, attributes: Mapping[str, Any]) -> dict[str, str] | None:
    """Return api_version, kind, namespace, name and uid; None where the state tells no object.

    Args:
        type_name: For example `kubectl_manifest` or `kubernetes_config_map_v1`.
        attributes: Of one instance.
    """
    if type_name == "kubectl_manifest":
        found = {key: attributes.get(key) or "" for key in ("api_version", "kind")}
        return _with_place(found, attributes)
    matched = _TYPE.match(type_name)
    kind = _KINDS.get(matched["name"]) if matched else None
    metadata = attributes.get("metadata")
    if kind is None or not isinstance(metadata, list) or not metadata:
        return None
    return _with_place({"api_version": kind[0], "kind": kind[1]}, metadata[0])


def _with_place(found: dict[str, str], place: Mapping[str, Any]) -> dict[str, str] | None:
    """Add where it is; None for what was never given a UID, and so was never made."""
    found |= {key: str(place.get(key) or "") for key in ("namespace", "name", "uid")}
    return found if found["uid"] else None
