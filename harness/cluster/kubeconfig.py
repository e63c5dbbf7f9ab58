"""Kubeconfig files that name files and hold no key. Pure but for the one write.

The Python client would copy a key that is inside into a temporary file, and leave it there when its
process is killed. Called by whoever starts a control plane, and for the laboratory's processes.
"""

from __future__ import annotations

from pathlib import Path

from harness.core.files import PRIVATE_MODE, write_json


def write_kubeconfig(
    path: Path,
    *,
    server: str,
    ca_path: Path,
    client_certificate: tuple[Path, Path] | None = None,
    token_path: Path | None = None,
) -> None:
    """Write a kubeconfig, 0600, as JSON, which is YAML too. Its one context is `strandline`.

    Args:
        path: Where it goes.
        server: URL of the API server.
        ca_path: Certificate of the authority that signed the server's.
        client_certificate: Files of a certificate and of its key.
        token_path: File of a bearer token, which may be renewed.
    """
    user: dict[str, str] = {}
    if client_certificate:
        certificate, key = client_certificate
        user |= {"client-certificate": str(certificate.absolute())}
        user |= {"client-key": str(key.absolute())}
    if token_path:
        user |= {"tokenFile": str(token_path.absolute())}
    cluster = {"server": server, "certificate-authority": str(ca_path.absolute())}
    value = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "strandline",
        "clusters": [{"name": "strandline", "cluster": cluster}],
        "users": [{"name": "strandline", "user": user}],
        "contexts": [
            {"name": "strandline", "context": {"cluster": "strandline", "user": "strandline"}}
        ],
    }
    write_json(path, value, mode=PRIVATE_MODE)
