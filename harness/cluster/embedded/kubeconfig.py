"""Kubeconfig files that point at a client certificate. Pure but for the one write.

They name files and hold no key: the Python client would copy a key that is inside into a temporary
file, and leave it there when its process is killed. Called by the start of a control plane.
"""

from __future__ import annotations

from pathlib import Path

from harness.core.files import PRIVATE_MODE, write_json


def write_kubeconfig(path: Path, *, server: str, pki_dir: Path, user: str) -> None:
    """Write a kubeconfig, 0600, as JSON, which is YAML too. Its one context is `strandline`.

    Args:
        path: Where it goes.
        server: URL of the API server.
        pki_dir: Folder with `serving-ca.crt`, `USER.crt` and `USER.key`, as `Pki.write` makes it.
        user: Name of the certificate's files.
    """
    folder = pki_dir.absolute()
    cluster = {"server": server, "certificate-authority": str(folder / "serving-ca.crt")}
    credentials = {
        "client-certificate": str(folder / f"{user}.crt"),
        "client-key": str(folder / f"{user}.key"),
    }
    value = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "strandline",
        "clusters": [{"name": "strandline", "cluster": cluster}],
        "users": [{"name": "strandline", "user": credentials}],
        "contexts": [
            {"name": "strandline", "context": {"cluster": "strandline", "user": "strandline"}}
        ],
    }
    write_json(path, value, mode=PRIVATE_MODE)
