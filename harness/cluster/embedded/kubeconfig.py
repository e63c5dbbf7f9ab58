"""Kubeconfig files with a client certificate inside. Pure but for the one write.

Called by the start of a control plane.
"""

from __future__ import annotations

import base64
from pathlib import Path

from harness.cluster.embedded.pki import KeyPair
from harness.core.files import PRIVATE_MODE, write_json


def write_kubeconfig(path: Path, *, server: str, ca_pem: bytes, user: KeyPair) -> None:
    """Write a kubeconfig, 0600, as JSON, which is YAML too. Its one context is `strandline`."""
    value = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "strandline",
        "clusters": [
            {
                "name": "strandline",
                "cluster": {"server": server, "certificate-authority-data": _base64(ca_pem)},
            }
        ],
        "users": [
            {
                "name": "strandline",
                "user": {
                    "client-certificate-data": _base64(user.cert_pem),
                    "client-key-data": _base64(user.key_pem),
                },
            }
        ],
        "contexts": [
            {"name": "strandline", "context": {"cluster": "strandline", "user": "strandline"}}
        ],
    }
    write_json(path, value, mode=PRIVATE_MODE)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
