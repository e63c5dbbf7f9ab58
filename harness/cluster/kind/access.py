"""The way to a kind cluster's API server: the kubeconfig that kind wrote, without keys in it.

Called by the start of a cluster, and by whoever asks whether one still answers.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from harness.cluster.embedded.probe import client_context, https_get
from harness.cluster.kubeconfig import write_kubeconfig
from harness.core.files import PRIVATE_MODE, write_atomic
from harness.errors import ClusterError


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where the API server is, and who we are to it.

    Attributes:
        kubeconfig: The admin's, 0600.
        server: Its address.
        ca_path: Certificate of the authority that signed the server's.
        certificate_path: The admin's certificate; its key is beside it as NAME.key.
    """

    kubeconfig: Path
    server: str
    ca_path: Path
    certificate_path: Path

    @classmethod
    def of(cls, state_dir: Path, server: str) -> Access:
        """Return the way to a cluster that `write_access` has been called for. Pure."""
        pki = state_dir / "pki"
        return cls(
            kubeconfig=state_dir / "admin.kubeconfig",
            server=server,
            ca_path=pki / "ca.crt",
            certificate_path=pki / "admin.crt",
        )

    def get(self, path: str) -> tuple[int, bytes]:
        """Ask once; return status and body.

        Raises:
            UnreachableError: There was no answer.
        """
        context = client_context(ca=self.ca_path, certificate=self.certificate_path)
        return https_get(urlsplit(self.server).port or 443, path, context=context)


def write_access(state_dir: Path) -> Access:
    """Take apart what kind wrote to `kind.kubeconfig`, and remove that file.

    Raises:
        ClusterError: It is not what kind writes.
    """
    source = state_dir / "kind.kubeconfig"
    try:
        value = yaml.safe_load(source.read_text())
        cluster, user = value["clusters"][0]["cluster"], value["users"][0]["user"]
        server = cluster["server"]
        files = {
            "ca.crt": cluster["certificate-authority-data"],
            "admin.crt": user["client-certificate-data"],
            "admin.key": user["client-key-data"],
        }
    except (OSError, yaml.YAMLError, KeyError, IndexError, TypeError) as error:
        msg = f"{source}: not the kubeconfig of a kind cluster: {error}"
        raise ClusterError(msg, hint="use kind 0.27 or newer") from error
    access = Access.of(state_dir, server)
    for name, text in files.items():
        write_atomic(state_dir / "pki" / name, base64.b64decode(text), mode=PRIVATE_MODE)
    certificate = (access.certificate_path, access.certificate_path.with_suffix(".key"))
    write_kubeconfig(
        access.kubeconfig,
        server=server,
        ca_path=access.ca_path,
        client_certificate=certificate,
    )
    source.unlink()
    return access
