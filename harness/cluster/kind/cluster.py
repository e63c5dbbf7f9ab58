"""One kind cluster: made whole in its folder, or not at all; ended whole.

Owns the order of things; refuses to know how long the cluster is to live. Called by the provider.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from harness.cluster.kind.access import Access, write_access
from harness.cluster.kind.command_line import Kind
from harness.cluster.kind.config import AUDIT_DIR, AUDIT_LOG, POD_LOGS_DIR, kind_config
from harness.cluster.kind.containers import remove_node
from harness.cluster.kind.engine import Engine
from harness.cluster.kind.host_settings import HostSettings
from harness.cluster.kind.images import ArchivedImage, NodeSource, ensure_in_engine
from harness.cluster.kind.node import KindNode
from harness.cluster.kind.settling import kubernetes_version, wait_until_settled
from harness.cluster.kind.state import node_name
from harness.cluster.provider import Cluster
from harness.core.files import write_atomic
from harness.errors import ClusterError, HarnessError, TeardownError

#: What a kind cluster can do. Its pods have no way to a process of this machine.
CAPABILITIES = frozenset({"audit", "controller_manager", "node_access", "nodes", "webhook"})

#: Folder, below a cluster's, of what every container printed; in each line, before what it says,
#: stand a time, the stream, and F or P for a whole line or a part of one.
POD_LOGS = Path("logs") / "pods"

#: Those of the API server: a file for each time that its container was started.
_API_SERVER_LOGS = f"{POD_LOGS}/kube-system_kube-apiserver-*/kube-apiserver/*.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a cluster is made with.

    Attributes:
        kind: The program and its engine.
        node: The image of the node.
        lab: The image of the laboratory's services; None leaves the node without one.
        host: Settings of the machine.
    """

    kind: Kind
    node: NodeSource
    lab: ArchivedImage | None
    host: HostSettings


def start_cluster(state_dir: Path, parts: Parts, *, progress: Callable[[str], None]) -> Cluster:
    """Make a cluster, bring our image to it, and return once nothing in it moves any more.

    Args:
        state_dir: Its folder; the name is the cluster's.
        parts: What it is made with.
        progress: Told about each step that takes more than a moment.

    Raises:
        ClusterError: It did not come up. Whoever called must end it all the same.
        PrerequisiteError: The node image cannot be had.
    """
    engine, name = parts.kind.engine, state_dir.name
    log_path = state_dir / "logs" / "kind.log"
    audit_dir, pod_logs_dir = state_dir / "audit", state_dir / POD_LOGS
    for folder in (audit_dir, pod_logs_dir):
        folder.mkdir(parents=True, exist_ok=True)
    policy_path = state_dir / "audit-policy.yaml"
    policy = resources.files("harness.cluster") / "audit-policy.yaml"
    write_atomic(policy_path, policy.read_bytes())
    with parts.host.noted(engine, progress=progress):
        ensure_in_engine(engine, parts.node, progress)
        progress(f"making the kind cluster {name} with {engine.name}")
        parts.kind.create(
            name,
            config=kind_config(
                name,
                node_image=parts.node.reference,
                audit_dir=audit_dir,
                pod_logs_dir=pod_logs_dir,
                policy_path=policy_path,
                cgroup_v1=engine.cgroup_v1,
            ),
            kubeconfig=state_dir / "kind.kubeconfig",
            log_path=log_path,
        )
    if parts.lab is not None:
        progress("loading the laboratory's image into the cluster")
        parts.kind.load(name, parts.lab.archive, log_path=log_path)
    access = write_access(state_dir)
    # Docker's daemon makes these files as root; whoever runs the harness must read them. The folder
    # above is 0700.
    KindNode(engine=engine, container=node_name(name)).execute(
        "chmod", "--recursive", "a+rX", str(AUDIT_DIR), str(POD_LOGS_DIR)
    )
    progress("waiting until the cluster has settled")
    wait_until_settled(access.get)
    audit_log = audit_dir / AUDIT_LOG
    if not audit_log.is_file() or not audit_log.stat().st_size:
        msg = f"{audit_log}: the API server writes no audit log"
        raise ClusterError(msg, hint="read the logs of kube-apiserver")
    return _cluster(state_dir, access, image=parts.lab.reference if parts.lab else None)


def end_cluster(state_dir: Path, engine: Engine, host: HostSettings) -> None:
    """End a cluster with everything that the engine has of it, then its folder. Idempotent.

    Raises:
        TeardownError: Something of it is still there.
    """
    node = node_name(state_dir.name)
    with suppress(HarnessError):  # it may be gone, or never have come up
        # Docker's daemon made these as root; only from inside can everybody remove them.
        KindNode(engine=engine, container=node).execute(
            "find", str(AUDIT_DIR), str(POD_LOGS_DIR), "-mindepth", "1", "-delete"
        )
    leftovers = list(remove_node(engine, node))
    host.restore(engine)
    if not leftovers:  # with the node still there, the folder says whose it is
        shutil.rmtree(state_dir, ignore_errors=True)
        if state_dir.exists():
            leftovers.append(f"folder {state_dir}")
    if leftovers:
        raise TeardownError(tuple(leftovers), hint=f"remove it with {engine.name}")


def _cluster(state_dir: Path, access: Access, *, image: str | None) -> Cluster:
    return Cluster(
        provider="kind",
        name=state_dir.name,
        kubeconfig=access.kubeconfig,
        server=access.server,
        ca_pem=access.ca_path.read_bytes(),
        # Without the image there is nothing to make a webhook of.
        capabilities=CAPABILITIES if image else CAPABILITIES - {"webhook"},
        versions={"kubernetes": kubernetes_version(access.get)},
        audit_log_path=state_dir / "audit" / AUDIT_LOG,
        state_dir=state_dir,
        api_server_logs=_API_SERVER_LOGS,
        image=image,
    )
