"""Start a control plane in a folder and wait until it works; end it whole.

Owns the folder's content, the ports and the tries; refuses to know in which order processes come up
and who keeps them alive. Called, on a main thread, by the ephemeral cluster and by the supervisor.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path

from harness.cluster.embedded import nodes as of_nodes
from harness.cluster.embedded.bring_up import bring_up
from harness.cluster.embedded.flags import Ports
from harness.cluster.embedded.pki import build_pki
from harness.cluster.embedded.plane import ControlPlane, PortTakenError
from harness.cluster.embedded.ports import free_ports
from harness.cluster.kubeconfig import write_kubeconfig
from harness.core.files import PRIVATE_MODE, write_atomic
from harness.errors import ClusterError

#: The programs of a control plane.
BINARY_NAMES = ("etcd", "kube-apiserver", "kube-controller-manager")

#: Free bytes that a start needs: etcd lays out two logs of 64 MB before it writes the first entry.
START_FREE_BYTES = 256 * 1024**2

#: Starts, each with other ports, before giving up: between the choice of a port and its bind
#: anybody may take it.
_PORT_TRIES = 3

#: Kubeconfig of each client that a control plane starts itself, or somebody beside it does.
_CLIENTS = {
    "kubeconfig": "admin",
    "controller-manager.kubeconfig": "controller-manager",
    "webhook.kubeconfig": "webhook-client",
}
_CLIENTS_OF_NODES = {"scheduler.kubeconfig": "scheduler", "kwok.kubeconfig": "kwok"}


def binary_names(nodes: int) -> tuple[str, ...]:
    """Return the programs of a control plane with so many nodes. Pure."""
    return (*BINARY_NAMES, *(of_nodes.BINARY_NAMES if nodes else ()))


def free_bytes(folder: Path) -> int:
    """Return what a file system has left for us."""
    return shutil.disk_usage(folder).free


def start_control_plane(
    state_dir: Path,
    *,
    binaries: Mapping[str, Path],
    webhook_argv: Sequence[str] | None,
    nodes: int = 0,
    pick_ports: Callable[[int], tuple[int, ...]] = free_ports,
    measure_free: Callable[[Path], int] = free_bytes,
) -> ControlPlane:
    """Start everything, and return once it works.

    Args:
        state_dir: The cluster's folder; its name is the cluster's.
        binaries: `binary_names(nodes)` to path.
        webhook_argv: Command of the admission webhook; None starts none.
        nodes: How many nodes without containers it has.
        pick_ports: Gives free ports.
        measure_free: Returns the free bytes of a folder's file system.

    Raises:
        ClusterError: A process ended or nothing was ready in time; nothing is left running.
    """
    if (free := measure_free(state_dir)) < START_FREE_BYTES:
        msg = (
            f"{state_dir}: no space left on device: {free // 1024**2} MiB free, "
            f"{START_FREE_BYTES // 1024**2} MiB needed"
        )
        raise ClusterError(msg, hint="free some disk, or set STRANDLINE_HOME to another one")
    for tries_left in reversed(range(_PORT_TRIES)):
        plane = _prepare(state_dir, webhook_argv, nodes, pick_ports)
        try:
            bring_up(plane, binaries)
        except PortTakenError:
            plane.end()
            if not tries_left:
                raise
        except BaseException:
            plane.end()
            raise
        else:
            return plane
    raise AssertionError  # pragma: no cover - the last try returns or raises


def _prepare(
    state_dir: Path,
    webhook_argv: Sequence[str] | None,
    nodes: int,
    pick_ports: Callable[[int], tuple[int, ...]],
) -> ControlPlane:
    for name in ("etcd", "logs"):
        shutil.rmtree(state_dir / name, ignore_errors=True)
        (state_dir / name).mkdir(mode=0o700)
    (state_dir / "audit.log").unlink(missing_ok=True)
    etcd, peer, api, webhook = pick_ports(4)
    ports = Ports(etcd=etcd, etcd_peer=peer, api=api, webhook=webhook)
    pki = build_pki()
    pki.write(state_dir / "pki")
    policy = resources.files("harness.cluster").joinpath("audit-policy.yaml")
    write_atomic(state_dir / "audit-policy.yaml", policy.read_bytes(), mode=PRIVATE_MODE)
    server = f"https://127.0.0.1:{ports.api}"
    pki_dir = state_dir / "pki"
    for name, user in (_CLIENTS | (_CLIENTS_OF_NODES if nodes else {})).items():
        write_kubeconfig(
            state_dir / name,
            server=server,
            ca_path=pki_dir / "serving-ca.crt",
            client_certificate=(pki_dir / f"{user}.crt", pki_dir / f"{user}.key"),
        )
    if nodes:
        of_nodes.write_stages(state_dir / "kwok-stages.yaml")
    return ControlPlane(
        state_dir=state_dir,
        pki=pki,
        ports=ports,
        children={},
        webhook_argv=webhook_argv,
        nodes=nodes,
    )
