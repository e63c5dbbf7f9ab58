"""Certificates of one embedded cluster, made anew for each and never used by another.

Four authorities, so that no certificate is worth anything where it was not meant: one signs what
serves, one who may speak to the API server, one etcd and its peers, one the token-signing key pair.
Called by the start of a control plane.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import trustme

from harness.core.files import PRIVATE_MODE

#: Identity of the admission webhook at the API server; tf/ gives it its cluster role.
WEBHOOK_USER = "strandline:webhook"

#: Identity of whoever holds the admin kubeconfig.
ADMIN_USER = "strandline:admin"

#: Identity of what plays the nodes, so that its acts are not the admin's in the record.
KWOK_USER = "strandline:kwok"

#: Names and addresses that the API server is reached under, from the host and from its own service.
_SERVER_NAMES = (
    *("127.0.0.1", "localhost", "10.0.0.1", "kubernetes", "kubernetes.default"),
    *("kubernetes.default.svc", "kubernetes.default.svc.cluster.local"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """A certificate with its chain, and its private key, both PEM."""

    cert_pem: bytes
    key_pem: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Pki:
    """Everything that a control plane and its clients prove themselves with.

    Attributes:
        serving_ca_pem: Authority of `server` and `webhook_server`.
        client_ca_pem: Authority of the API server's clients.
        etcd_ca_pem: Authority of etcd, its peers and its one client.
        server: The API server's certificate.
        webhook_server: The webhook's certificate, for 127.0.0.1 alone.
        admin: Client certificate of group system:masters.
        controller_manager: Client certificate of system:kube-controller-manager.
        scheduler: Client certificate of system:kube-scheduler.
        kwok: Client certificate of `KWOK_USER`, of group system:masters: it plays every kubelet.
        webhook_client: Client certificate of `WEBHOOK_USER`.
        etcd_server: etcd's certificate, for clients and peers.
        etcd_client: The API server's certificate at etcd.
        service_accounts: Key that signs ServiceAccount tokens.
    """

    serving_ca_pem: bytes
    client_ca_pem: bytes
    etcd_ca_pem: bytes
    server: KeyPair
    webhook_server: KeyPair
    admin: KeyPair
    controller_manager: KeyPair
    scheduler: KeyPair
    kwok: KeyPair
    webhook_client: KeyPair
    etcd_server: KeyPair
    etcd_client: KeyPair
    service_accounts: KeyPair

    def write(self, folder: Path) -> None:
        """Write each as a file, 0600, in a folder that only the owner enters."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        files = {
            "serving-ca.crt": self.serving_ca_pem,
            "client-ca.crt": self.client_ca_pem,
            "etcd-ca.crt": self.etcd_ca_pem,
        }
        for name, pair in (
            ("server", self.server),
            ("webhook-server", self.webhook_server),
            ("admin", self.admin),
            ("controller-manager", self.controller_manager),
            ("scheduler", self.scheduler),
            ("kwok", self.kwok),
            ("webhook-client", self.webhook_client),
            ("etcd-server", self.etcd_server),
            ("etcd-client", self.etcd_client),
            ("service-accounts", self.service_accounts),
        ):
            files |= {f"{name}.crt": pair.cert_pem, f"{name}.key": pair.key_pem}
        for name, data in files.items():
            # Not atomic, and not synced: who reads them is started after, and nobody after a crash.
            handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_MODE)
            with os.fdopen(handle, "wb") as file:
                file.write(data)


def build_pki() -> Pki:
    """Make every key and certificate; takes about 30 ms."""
    serving, client, etcd, tokens = (trustme.CA() for _ in range(4))

    def issue(
        ca: trustme.CA, *names: str, user: str | None = None, group: str | None = None
    ) -> KeyPair:
        # A client gets a name too: Go refuses a certificate with an empty list of names.
        leaf = ca.issue_cert(*(names or ("client",)), common_name=user, organization_name=group)
        return KeyPair(
            cert_pem=b"".join(blob.bytes() for blob in leaf.cert_chain_pems),
            key_pem=leaf.private_key_pem.bytes(),
        )

    return Pki(
        serving_ca_pem=serving.cert_pem.bytes(),
        client_ca_pem=client.cert_pem.bytes(),
        etcd_ca_pem=etcd.cert_pem.bytes(),
        server=issue(serving, *_SERVER_NAMES),
        webhook_server=issue(serving, "127.0.0.1"),
        admin=issue(client, user=ADMIN_USER, group="system:masters"),
        controller_manager=issue(client, user="system:kube-controller-manager"),
        scheduler=issue(client, user="system:kube-scheduler"),
        kwok=issue(client, user=KWOK_USER, group="system:masters"),
        webhook_client=issue(client, user=WEBHOOK_USER),
        etcd_server=issue(etcd, "127.0.0.1", "localhost"),
        etcd_client=issue(etcd, user="kube-apiserver"),
        service_accounts=issue(tokens, "service-accounts"),
    )
