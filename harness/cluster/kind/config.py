"""The document that kind makes a cluster from. Pure.

Called by the start of a cluster.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.core.files import canonical_json

#: Where a node has what the API server's pod mounts, and where the pod has it: the same.
AUDIT_DIR = Path("/var/log/strandline")
POLICY_DIR = Path("/etc/kubernetes/strandline")

#: Where kubelet keeps what every container printed.
POD_LOGS_DIR = Path("/var/log/pods")

#: Name of the audit log in its folder.
AUDIT_LOG = "audit.log"

_POLICY = "audit-policy.yaml"

#: Why each is there: harness/cluster/embedded/flags.py. The same record is kept on every cluster.
_AUDIT_FLAGS = {
    "audit-policy-file": str(POLICY_DIR / _POLICY),
    "audit-log-path": str(AUDIT_DIR / AUDIT_LOG),
    "audit-log-mode": "blocking-strict",
    "audit-log-maxsize": "0",
    "profiling": "false",
}


def kind_config(
    name: str,
    *,
    node_image: str | None,
    audit_dir: Path,
    pod_logs_dir: Path,
    policy_path: Path,
    cgroup_v1: bool,
) -> dict[str, Any]:
    """Return a kind.x-k8s.io/v1alpha4 Cluster of one node. Pure.

    Args:
        name: The cluster's.
        node_image: The node's; None means kind's own.
        audit_dir: Folder of this machine for the audit log.
        pod_logs_dir: Folder of this machine for what containers print.
        policy_path: The audit policy.
        cgroup_v1: Whether the node will see control groups of the old kind.
    """
    node: dict[str, Any] = {
        "role": "control-plane",
        "extraMounts": [
            {"hostPath": str(audit_dir), "containerPath": str(AUDIT_DIR)},
            {"hostPath": str(pod_logs_dir), "containerPath": str(POD_LOGS_DIR)},
            {
                "hostPath": str(policy_path),
                "containerPath": str(POLICY_DIR / _POLICY),
                "readOnly": True,
            },
        ],
    }
    if node_image:
        node["image"] = node_image
    patches = [*_api_server_patches(), *([_KUBELET_PATCH] if cgroup_v1 else [])]
    return {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "name": name,
        "networking": {"apiServerAddress": "127.0.0.1"},
        "nodes": [node],
        "kubeadmConfigPatches": [canonical_json(patch).decode() for patch in patches],
    }


#: Else: `kubelet is configured to not run on a host using cgroup v1`.
_KUBELET_PATCH = {
    "kind": "KubeletConfiguration",
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "failCgroupV1": False,
}


def _api_server_patches() -> tuple[dict[str, Any], ...]:
    """Return the same for both forms of kubeadm's document; kind applies the one that fits."""
    volumes = [
        {
            "name": name,
            "hostPath": str(folder),
            "mountPath": str(folder),
            "readOnly": read_only,
            "pathType": "Directory",
        }
        for name, folder, read_only in (
            ("audit-policy", POLICY_DIR, True),
            ("audit-log", AUDIT_DIR, False),
        )
    ]
    flags = [{"name": name, "value": value} for name, value in _AUDIT_FLAGS.items()]
    return tuple(
        {
            "kind": "ClusterConfiguration",
            "apiVersion": f"kubeadm.k8s.io/{version}",
            "apiServer": {"extraArgs": arguments, "extraVolumes": volumes},
        }
        for version, arguments in (("v1beta4", flags), ("v1beta3", _AUDIT_FLAGS))
    )
