"""The order in which a control plane's processes come up, and the proof of each step.

The API server is what everything waits for, and it needs both cores until it listens. Then it
sleeps for a second before it makes the first roles (rbac/bootstrap-roles): in that second the
others load. Owns the waits; refuses to know what is in the folder. Called by the start of a control
plane.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.cluster.embedded.flags import (
    api_server_argv,
    controller_manager_argv,
    etcd_argv,
)
from harness.cluster.embedded.held import HeldKubeconfig
from harness.cluster.embedded.nodes import (
    NODES_PATH,
    create_nodes,
    kwok_argv,
    nodes_verdict,
    scheduler_argv,
)
from harness.cluster.embedded.plane import ControlPlane
from harness.cluster.embedded.probe import client_context, https_get, https_post
from harness.cluster.provider import TWO_CONTROLLERS, Cluster
from harness.cluster.services.heard import log_tail
from harness.core.waiting import wait_until
from harness.errors import ClusterError, UnreachableError, WaitTimeoutError

#: Longest wait for the API server's /readyz, in seconds. It takes 3 s on two idle cores; envtest
#: allows 20 s, and a shared CI runner gets three times that.
#: Source: kubernetes-sigs/controller-runtime, pkg/envtest/server.go
API_SERVER_START_TIMEOUT_S = 60.0

#: Longest wait for the first work of the controllers, in seconds; it takes under 1 s.
CONTROLLERS_TIMEOUT_S = 60.0

#: Longest wait until pods can be bound to nodes, in seconds; it takes about 1 s.
NODES_TIMEOUT_S = 60.0

#: Seconds between two looks at a start. A refused connection costs nothing, and an answer 5 ms.
_LOOK_EVERY_S = 0.02

#: Memory for time: the API server makes 200 MB of tables while it starts, and with Go's default of
#: 100 it collects garbage over and over meanwhile. This saves a tenth of its processor time, for
#: 50 MB more.
_API_SERVER_ENV = {"GOGC": "200"}

#: What an embedded cluster can do without nodes.
_CAPABILITIES = frozenset(
    {"audit", "controller_manager", "node_access", "reaches_host", TWO_CONTROLLERS}
)

_Get = Callable[[str], tuple[int, bytes]]


def bring_up(plane: ControlPlane, binaries: Mapping[str, Path]) -> None:
    """Start every process of a plane; return once all of them work.

    Raises:
        ClusterError: One ended, or was not ready in time. Whoever called must end the rest.
    """
    state_dir, ports = plane.state_dir, plane.ports
    pki = state_dir / "pki"
    admin = client_context(ca=pki / "serving-ca.crt", certificate=pki / "admin.crt")

    def get(path: str) -> tuple[int, bytes]:
        plane.check()
        return https_get(ports.api, path, context=admin)

    def post(path: str, body: bytes) -> tuple[int, bytes]:
        plane.check()
        return https_post(ports.api, path, body, context=admin)

    _spawn_store_and_server(plane, binaries)
    _wait(plane, "kube-apiserver", API_SERVER_START_TIMEOUT_S, lambda: _serves(get("/readyz")))
    held = HeldKubeconfig(state_dir / "controller-manager.kubeconfig")
    plane.spawn(
        "kube-controller-manager",
        controller_manager_argv(binaries["kube-controller-manager"], pki=pki, kubeconfig=held.path),
    )
    plane.warm_webhook()
    plane.record()
    _wait(plane, "kube-apiserver", API_SERVER_START_TIMEOUT_S, lambda: _verdict(get("/readyz")))
    _wait(plane, "kube-controller-manager", CONTROLLERS_TIMEOUT_S, lambda: _given(plane, held))
    plane.configure_webhook()
    if plane.nodes:
        _spawn_nodes(plane, binaries)
        plane.record()
    _wait(
        plane, "kube-controller-manager", CONTROLLERS_TIMEOUT_S, lambda: _controllers_verdict(get)
    )
    if plane.nodes:
        _wait(plane, "kwok", NODES_TIMEOUT_S, lambda: create_nodes(plane.nodes, post))
        _wait(plane, "kwok", NODES_TIMEOUT_S, lambda: nodes_verdict(plane.nodes, get(NODES_PATH)))
    plane.record()
    etcd = client_context(ca=pki / "etcd-ca.crt", certificate=pki / "etcd-client.crt")
    plane.cluster = _describe(
        plane,
        kubernetes=json.loads(get("/version")[1]),
        etcd=json.loads(https_get(ports.etcd, "/version", context=etcd)[1]),
    )


def _spawn_store_and_server(plane: ControlPlane, binaries: Mapping[str, Path]) -> None:
    state_dir, pki = plane.state_dir, plane.state_dir / "pki"
    plane.spawn(
        "etcd",
        etcd_argv(binaries["etcd"], pki=pki, data_dir=state_dir / "etcd", ports=plane.ports),
    )
    plane.spawn(
        "kube-apiserver",
        api_server_argv(
            binaries["kube-apiserver"],
            pki=pki,
            ports=plane.ports,
            audit_policy=state_dir / "audit-policy.yaml",
            audit_log=state_dir / "audit.log",
        ),
        env=_API_SERVER_ENV,
    )
    plane.record()


def _spawn_nodes(plane: ControlPlane, binaries: Mapping[str, Path]) -> None:
    state_dir = plane.state_dir
    plane.spawn(
        "kube-scheduler",
        scheduler_argv(binaries["kube-scheduler"], kubeconfig=state_dir / "scheduler.kubeconfig"),
    )
    plane.spawn(
        "kwok",
        kwok_argv(
            binaries["kwok"],
            kubeconfig=state_dir / "kwok.kubeconfig",
            stages=state_dir / "kwok-stages.yaml",
        ),
    )


def _wait(plane: ControlPlane, name: str, timeout_s: float, verdict: Callable[[], str]) -> None:
    def look() -> str:
        plane.check_space()
        return verdict()

    try:
        wait_until(
            look,
            lambda seen: seen == "ok",
            what=name,
            timeout_s=timeout_s,
            interval_s=_LOOK_EVERY_S,
            tolerate=(UnreachableError,),
        )
    except WaitTimeoutError as error:
        msg = f"{error.message}; its log ends: {log_tail(plane.log_path(name))}"
        raise ClusterError(msg, hint=f"read {plane.log_path(name)}") from error


def _verdict(answer: tuple[int, bytes]) -> str:
    status, body = answer
    return "ok" if status == 200 else f"{status} {body[-300:].decode(errors='replace')}"


def _serves(answer: tuple[int, bytes]) -> str:
    """Return `ok` for any answer: it listens, whatever it is not ready for yet. Pure."""
    del answer
    return "ok"


def _given(plane: ControlPlane, held: HeldKubeconfig) -> str:
    plane.check()
    return "ok" if held.release() else "it has not asked for its kubeconfig"


def _controllers_verdict(get: _Get) -> str:
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
    hooked = plane.webhook is not None
    return Cluster(
        provider="embedded",
        name=state_dir.name,
        kubeconfig=state_dir / "kubeconfig",
        server=f"https://127.0.0.1:{plane.ports.api}",
        ca_pem=plane.pki.serving_ca_pem,
        capabilities=_CAPABILITIES
        | ({"webhook"} if hooked else set())
        | ({"nodes"} if plane.nodes else set()),
        versions={"kubernetes": kubernetes["gitVersion"], "etcd": etcd["etcdserver"]},
        audit_log_path=state_dir / "audit.log",
        state_dir=state_dir,
        api_server_logs="logs/kube-apiserver.log",
        webhook_port=plane.ports.webhook if hooked else None,
        webhook_ca_pem=plane.pki.serving_ca_pem if hooked else b"",
    )
