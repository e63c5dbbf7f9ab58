"""Start a control plane in a folder and wait until it works; end it whole.

Owns the order, the ports and the proof of readiness; refuses to know who keeps it alive. Called, on
a main thread, by the ephemeral cluster and by the supervisor.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from harness.cluster.embedded.flags import (
    Ports,
    api_server_argv,
    controller_manager_argv,
    etcd_argv,
)
from harness.cluster.embedded.pki import build_pki
from harness.cluster.embedded.plane import ControlPlane, PortTakenError
from harness.cluster.embedded.ports import free_ports
from harness.cluster.embedded.probe import client_context, https_get
from harness.cluster.kubeconfig import write_kubeconfig
from harness.cluster.provider import Cluster
from harness.cluster.services.heard import log_tail
from harness.core.files import PRIVATE_MODE, write_atomic
from harness.core.waiting import wait_until
from harness.errors import ClusterError, UnreachableError, WaitTimeoutError

#: The programs of a control plane.
BINARY_NAMES = ("etcd", "kube-apiserver", "kube-controller-manager")

#: Longest wait for the API server's /readyz, in seconds. It takes 3 s on two idle cores; envtest
#: allows 20 s, and a shared CI runner gets three times that.
#: Source: kubernetes-sigs/controller-runtime, pkg/envtest/server.go
API_SERVER_START_TIMEOUT_S = 60.0

#: Longest wait for the first work of the controllers, in seconds; it takes about 1 s.
CONTROLLERS_TIMEOUT_S = 60.0

#: Starts, each with other ports, before giving up: between the choice of a port and its bind
#: anybody may take it.
_PORT_TRIES = 3

#: What an embedded cluster can do; it has no nodes.
_CAPABILITIES = frozenset({"audit", "controller_manager", "node_access", "reaches_host"})


def start_control_plane(
    state_dir: Path,
    *,
    binaries: Mapping[str, Path],
    webhook_argv: Sequence[str] | None,
    pick_ports: Callable[[int], tuple[int, ...]] = free_ports,
) -> ControlPlane:
    """Start everything, and return once it works.

    Args:
        state_dir: The cluster's folder; its name is the cluster's.
        binaries: `BINARY_NAMES` to path.
        webhook_argv: Command of the admission webhook; None starts none.
        pick_ports: Gives free ports.

    Raises:
        ClusterError: A process ended or nothing was ready in time; nothing is left running.
    """
    for tries_left in reversed(range(_PORT_TRIES)):
        plane = _prepare(state_dir, webhook_argv, pick_ports)
        try:
            _start(plane, binaries)
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
    pick_ports: Callable[[int], tuple[int, ...]],
) -> ControlPlane:
    for name in ("etcd", "logs"):
        shutil.rmtree(state_dir / name, ignore_errors=True)
        (state_dir / name).mkdir(mode=0o700)
    etcd, peer, api, webhook = pick_ports(4)
    ports = Ports(etcd=etcd, etcd_peer=peer, api=api, webhook=webhook)
    pki = build_pki()
    pki.write(state_dir / "pki")
    policy = resources.files("harness.cluster").joinpath("audit-policy.yaml")
    write_atomic(state_dir / "audit-policy.yaml", policy.read_bytes(), mode=PRIVATE_MODE)
    server = f"https://127.0.0.1:{ports.api}"
    pki_dir = state_dir / "pki"
    for name, user in (
        ("kubeconfig", "admin"),
        ("controller-manager.kubeconfig", "controller-manager"),
        ("webhook.kubeconfig", "webhook-client"),
    ):
        write_kubeconfig(
            state_dir / name,
            server=server,
            ca_path=pki_dir / "serving-ca.crt",
            client_certificate=(pki_dir / f"{user}.crt", pki_dir / f"{user}.key"),
        )
    return ControlPlane(
        state_dir=state_dir, pki=pki, ports=ports, children={}, webhook_argv=webhook_argv
    )


def _start(plane: ControlPlane, binaries: Mapping[str, Path]) -> None:
    state_dir, ports = plane.state_dir, plane.ports
    pki = state_dir / "pki"
    audit_log = state_dir / "audit.log"
    audit_log.unlink(missing_ok=True)
    plane.spawn(
        "etcd",
        etcd_argv(binaries["etcd"], pki=pki, data_dir=state_dir / "etcd", ports=ports),
    )
    plane.spawn(
        "kube-apiserver",
        api_server_argv(
            binaries["kube-apiserver"],
            pki=pki,
            ports=ports,
            audit_policy=state_dir / "audit-policy.yaml",
            audit_log=audit_log,
        ),
    )
    plane.warm_webhook()
    plane.record()
    admin = client_context(ca=pki / "serving-ca.crt", certificate=pki / "admin.crt")

    def get(path: str) -> tuple[int, bytes]:
        plane.check()
        return https_get(ports.api, path, context=admin)

    _wait(plane, "kube-apiserver", API_SERVER_START_TIMEOUT_S, lambda: _verdict(get("/readyz")))
    plane.spawn(
        "kube-controller-manager",
        controller_manager_argv(
            binaries["kube-controller-manager"],
            pki=pki,
            kubeconfig=state_dir / "controller-manager.kubeconfig",
        ),
    )
    plane.configure_webhook()
    _wait(
        plane, "kube-controller-manager", CONTROLLERS_TIMEOUT_S, lambda: _controllers_verdict(get)
    )
    plane.record()
    etcd = client_context(ca=pki / "etcd-ca.crt", certificate=pki / "etcd-client.crt")
    plane.cluster = _describe(
        plane,
        kubernetes=json.loads(get("/version")[1]),
        etcd=json.loads(https_get(ports.etcd, "/version", context=etcd)[1]),
    )


def _wait(plane: ControlPlane, name: str, timeout_s: float, verdict: Callable[[], str]) -> None:
    try:
        wait_until(
            verdict,
            lambda seen: seen == "ok",
            what=name,
            timeout_s=timeout_s,
            tolerate=(UnreachableError,),
        )
    except WaitTimeoutError as error:
        msg = f"{error.message}; its log ends: {log_tail(plane.log_path(name))}"
        raise ClusterError(msg, hint=f"read {plane.log_path(name)}") from error


def _verdict(answer: tuple[int, bytes]) -> str:
    status, body = answer
    return "ok" if status == 200 else f"{status} {body[-300:].decode(errors='replace')}"


def _controllers_verdict(get: Callable[[str], tuple[int, bytes]]) -> str:
    """Return `ok` once two controllers have done their first work: accounts and aggregation."""
    status, _ = get("/api/v1/namespaces/default/serviceaccounts/default")
    if status != 200:
        return f"ServiceAccount default/default: {status}"
    status, body = get("/apis/rbac.authorization.k8s.io/v1/clusterroles/edit")
    if status != 200 or not json.loads(body).get("rules"):
        return f"ClusterRole edit: {status}, without rules"
    return "ok"


def _describe(plane: ControlPlane, *, kubernetes: Any, etcd: Any) -> Cluster:
    state_dir = plane.state_dir
    return Cluster(
        provider="embedded",
        name=state_dir.name,
        kubeconfig=state_dir / "kubeconfig",
        server=f"https://127.0.0.1:{plane.ports.api}",
        ca_pem=plane.pki.serving_ca_pem,
        capabilities=_CAPABILITIES | ({"webhook"} if plane.webhook else set()),
        versions={"kubernetes": kubernetes["gitVersion"], "etcd": etcd["etcdserver"]},
        audit_log_path=state_dir / "audit.log",
        state_dir=state_dir,
        api_server_logs="logs/kube-apiserver.log",
        webhook_port=plane.ports.webhook,
        webhook_ca_pem=plane.pki.serving_ca_pem,
    )
