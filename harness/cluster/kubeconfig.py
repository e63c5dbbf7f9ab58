"""Kubeconfig files that name files and hold no key. Pure but for the one write.

The Python client would copy a key that is inside into a temporary file, and leave it there when its
process is killed. Called by whoever starts a control plane, and for the laboratory's processes.
"""

from __future__ import annotations

import base64
from pathlib import Path

from harness.core.files import PRIVATE_MODE, read_json, readable_json, write_json


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


def with_contents(path: Path) -> bytes:
    """Return a kubeconfig of `write_kubeconfig` with the files that it names inside of it.

    For who must carry it to a place where the files are not. It holds a key then.
    """
    value = read_json(path)
    clusters = [one["cluster"] for one in value["clusters"]]
    users = [one["user"] for one in value["users"]]
    for entry in (*clusters, *users):
        for name in ("certificate-authority", "client-certificate", "client-key"):
            if name in entry:
                data = base64.b64encode(Path(entry.pop(name)).read_bytes())
                entry[f"{name}-data"] = data.decode()
    return readable_json(value)
