"""Nodes without containers: a scheduler, and kwok in the place of every kubelet.

A pod is bound, runs and is ready without a process of its own. Owns the Node objects and the proof
that pods can be bound to them. Called by the start of a control plane that is to have nodes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, write_atomic

#: The programs that nodes need beside a control plane's.
BINARY_NAMES = ("kube-scheduler", "kwok")

#: Most nodes of one cluster. kwok has played thousands; here each is an object, a lease every ten
#: seconds, and a pod's worth of the scheduler's memory.
MOST_NODES = 1000

#: Seconds for which a node's lease holds; kwok renews it after a quarter of that.
_LEASE_S = 40

#: Addresses of pods, apart from those of services.
_POD_ADDRESSES = "10.244.0.0/16"

NODES_PATH = "/api/v1/nodes"


def scheduler_argv(binary: Path, *, kubeconfig: Path) -> list[str]:
    """Return the scheduler's command line; it listens nowhere. Pure."""
    return [
        str(binary),
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        "--profiling=false",
        # Its default of 50 binds 100 pods in 2 s.
        "--kube-api-qps=300",
        "--kube-api-burst=500",
    ]


def kwok_argv(binary: Path, *, kubeconfig: Path, stages: Path) -> list[str]:
    """Return kwok's command line; it listens nowhere. Pure."""
    return [
        str(binary),
        f"--kubeconfig={kubeconfig}",
        f"--config={stages}",
        "--manage-all-nodes=true",
        f"--node-lease-duration-seconds={_LEASE_S}",
        "--node-ip=127.0.0.1",
        f"--cidr={_POD_ADDRESSES}",
    ]


def write_stages(path: Path) -> None:
    """Write what kwok makes of nodes and pods."""
    source = resources.files("harness.cluster.embedded").joinpath("kwok-stages.yaml")
    write_atomic(path, source.read_bytes(), mode=PRIVATE_MODE)


def node_object(number: int) -> dict[str, Any]:
    """Return a core/v1 Node. Pure."""
    name = f"node-{number}"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "type": "kwok",
            },
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
    }


def create_nodes(count: int, post: Callable[[str, bytes], tuple[int, bytes]]) -> str:
    """Create what is missing of `count` nodes; return `ok`, or what was answered. Idempotent."""
    for number in range(count):
        status, body = post(NODES_PATH, json.dumps(node_object(number)).encode())
        if status not in {201, 409}:
            return f"node-{number}: {status} {body[-300:].decode(errors='replace')}"
    return "ok"


def nodes_verdict(count: int, answer: tuple[int, bytes]) -> str:
    """Return `ok` once pods can be bound to `count` nodes: Ready, and no taint left. Pure."""
    status, body = answer
    if status != 200:
        return f"nodes: {status}"
    usable = [node for node in json.loads(body)["items"] if _usable(node)]
    return "ok" if len(usable) >= count else f"{len(usable)} of {count} nodes can be used"


def _usable(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions") or ()
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and not node["spec"].get("taints")
