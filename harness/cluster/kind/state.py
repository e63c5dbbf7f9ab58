"""Names of kind clusters, and what their folders say of who answers for them.

A name holds a digest of the home, so that two homes on one machine never meet; whoever sees a node
container finds its folder from what it mounts. Called by start, end and sweep.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from harness.cluster.home import clusters_dir, read_ledger
from harness.cluster.provider import CLUSTER_FILE
from harness.core.files import sha256_hex

#: Beginning of the names of everything of ours that an engine keeps.
PREFIX = "strandline-"


#: The whole form of a node container's name: what only begins like ours is somebody's.
NODE_NAME = re.compile(r"^(strandline-[0-9a-f]{8}-(?:provisioned|[0-9a-f]{8}))-control-plane$")


def provisioned_name(home: Path) -> str:
    """Return the name of the one provisioned cluster of a home. Pure."""
    return f"{_prefix(home)}-provisioned"


def ephemeral_name(home: Path) -> str:
    """Return a name that no cluster has had."""
    return f"{_prefix(home)}-{secrets.token_hex(4)}"


def node_name(cluster_name: str) -> str:
    """Return the name that kind gives the container of the node. Pure."""
    return f"{cluster_name}-control-plane"


def state_dirs(home: Path) -> tuple[Path, ...]:
    """Return the folders of kind clusters of a home, sorted by name."""
    return tuple(sorted(clusters_dir(home).glob(f"{_prefix(home)}-*")))


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeContainer:
    """A node as its engine has it.

    Attributes:
        name: The container's name.
        created_at: When it was made.
        running: Whether it runs.
        state_dir: The folder of its cluster, there or not; None when it mounts none.
    """

    name: str
    created_at: datetime
    running: bool
    state_dir: Path | None


def answered_for(state_dir: Path, *, running: bool) -> bool:
    """Tell whether somebody uses a cluster: who made it lives, or it is provisioned and runs."""
    ledger = read_ledger(state_dir)
    if ledger is not None and ledger.owner.alive:
        return True
    return running and (state_dir / CLUSTER_FILE).is_file()


def _prefix(home: Path) -> str:
    return f"{PREFIX}{sha256_hex(str(home.absolute()).encode())[:8]}"
