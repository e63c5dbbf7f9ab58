"""What no two clusters share, kept at provision: the UID of the namespace kube-system.

Owns the file; refuses to ask a cluster. Written once for a state folder, and read before whatever
is destructive, because an address can be answered by another cluster than it was.
"""

from __future__ import annotations

from pathlib import Path

from harness.core.files import PRIVATE_MODE, read_json, write_json
from harness.errors import AnotherClusterError, ClusterError, ConfigError

_FILE = "identity.json"


def record_identity(state_dir: Path, uid: str) -> None:
    """Keep a cluster's UID. Idempotent; a folder never changes its cluster.

    Raises:
        AnotherClusterError: Another UID stands there.
    """
    path = state_dir / _FILE
    if path.is_file():
        if (kept := read_identity(state_dir)) != uid:
            raise AnotherClusterError(expected=kept, found=uid)
        return
    write_json(path, {"kube_system_uid": uid}, mode=PRIVATE_MODE)


def read_identity(state_dir: Path) -> str:
    """Return the UID kept in a state folder.

    Raises:
        ClusterError: There is none, so nothing may be taken down.
    """
    try:
        return str(read_json(state_dir / _FILE)["kube_system_uid"])
    except (ConfigError, KeyError, TypeError) as error:
        msg = f"{state_dir / _FILE}: no UID of a cluster, so it cannot be told which one this is"
        raise ClusterError(msg, hint="provision the cluster again") from error
