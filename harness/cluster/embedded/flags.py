"""The command lines of the control plane's three processes, from paths and ports. Pure.

Every flag was tried on this version; the comments say what happens without it. Called by the start
of a control plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Loopback ports, all different.

    Attributes:
        etcd: etcd's clients.
        etcd_peer: etcd's peers, of which there are none; it wants an address all the same.
        api: The API server.
        webhook: The admission webhook, known before the webhook is registered.
    """

    etcd: int
    etcd_peer: int
    api: int
    webhook: int


def etcd_argv(binary: Path, *, pki: Path, data_dir: Path, ports: Ports) -> list[str]:
    """Return etcd's command line: certificates of its own authority on both sides."""
    client, peer = (f"https://127.0.0.1:{port}" for port in (ports.etcd, ports.etcd_peer))
    return [
        str(binary),
        f"--data-dir={data_dir}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        f"--cert-file={pki / 'etcd-server.crt'}",
        f"--key-file={pki / 'etcd-server.key'}",
        "--client-cert-auth",
        f"--trusted-ca-file={pki / 'etcd-ca.crt'}",
        f"--peer-cert-file={pki / 'etcd-server.crt'}",
        f"--peer-key-file={pki / 'etcd-server.key'}",
        "--peer-client-cert-auth",
        f"--peer-trusted-ca-file={pki / 'etcd-ca.crt'}",
        # The data lives no longer than the machine's run, so there is nothing to keep on the disk.
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def api_server_argv(
    binary: Path, *, pki: Path, ports: Ports, audit_policy: Path, audit_log: Path
) -> list[str]:
    """Return the API server's command line: RBAC, nobody anonymous, a strict audit log."""
    return [
        str(binary),
        f"--etcd-servers=https://127.0.0.1:{ports.etcd}",
        f"--etcd-cafile={pki / 'etcd-ca.crt'}",
        f"--etcd-certfile={pki / 'etcd-client.crt'}",
        f"--etcd-keyfile={pki / 'etcd-client.key'}",
        f"--secure-port={ports.api}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--tls-cert-file={pki / 'server.crt'}",
        f"--tls-private-key-file={pki / 'server.key'}",
        f"--client-ca-file={pki / 'client-ca.crt'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki / 'service-accounts.key'}",
        f"--service-account-signing-key-file={pki / 'service-accounts.key'}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--authorization-mode=RBAC",
        "--anonymous-auth=false",
        f"--audit-policy-file={audit_policy}",
        f"--audit-log-path={audit_log}",
        # The record is in the file before the client has its answer.
        "--audit-log-mode=blocking-strict",
        # 0 means no rotation; the default renames the file at 100 MB, in the middle of an attempt.
        "--audit-log-maxsize=0",
        # Endpoints refuse loopback addresses, and the reconciler would log that for ever.
        "--endpoint-reconciler-type=none",
        "--profiling=false",
    ]


def controller_manager_argv(binary: Path, *, pki: Path, kubeconfig: Path) -> list[str]:
    """Return the controller manager's command line; it listens nowhere."""
    return [
        str(binary),
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        f"--service-account-private-key-file={pki / 'service-accounts.key'}",
        f"--root-ca-file={pki / 'serving-ca.crt'}",
        # Without it every controller acts as one user that may do almost nothing, and namespaces
        # stay Terminating with no visible cause.
        "--use-service-account-credentials=true",
        "--controllers=*,-node-ipam-controller",
        "--leader-elect=false",
        # With the default limits it takes 5.6 s to come up instead of 0.7 s.
        "--kube-api-qps=300",
        "--kube-api-burst=500",
        "--secure-port=0",
        "--profiling=false",
    ]
