"""Programs of the peers, built once from the Go modules below `benchmarks/peers/`.

Owns where they are kept; how Go modules are built is the toolchain's. Called by the parts that
have a peer, and for the versions in the result file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from benchmarks.workbench import Workbench
from harness.cluster.toolchain.binaries import pinned_versions
from harness.cluster.toolchain.build import build_group
from harness.cluster.toolchain.go import ensure_go
from harness.core.files import sha256_hex

#: One folder a peer, with its go.mod and go.sum.
_PEERS_DIR = Path(__file__).with_name("peers")

#: Peer to the module whose version is the peer's.
PEERS: Mapping[str, str] = {
    "chainsaw": "github.com/kyverno/chainsaw",
    "envtest": "sigs.k8s.io/controller-runtime",
}


def ensure_peer(bench: Workbench, name: str) -> Path:
    """Return the program of a peer; it is built when it is not in the cache. Idempotent.

    Raises:
        PrerequisiteError: There is no Go that will do, or it cannot be built.
    """
    source_dir = _PEERS_DIR / name
    files = sorted(path for path in source_dir.iterdir() if path.is_file())
    digest = sha256_hex(b"".join(path.read_bytes() for path in files))[:12]
    folder = bench.cache_dir / f"peer-{name}-{peer_version(name)}-{digest}"
    if not folder.is_dir():
        build_group(
            f"peer {name}",
            source_dir=source_dir,
            group_dir=folder,
            go=ensure_go(os.environ, bench.cache_dir, bench.say).path,
            environ=os.environ,
            progress=bench.say,
        )
    return folder / name


def peer_version(name: str) -> str:
    """Return the version of a peer that its go.mod pins."""
    return str(pinned_versions((_PEERS_DIR / name / "go.mod").read_text())[PEERS[name]])
