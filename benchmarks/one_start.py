"""Start our control plane once, stop it, and print how many seconds each took as one JSON object.

The counterpart of `peers/envtest`: a program of its own, so that both sides are measured alike.
Called by `benchmarks.start`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from harness.cluster.embedded.control_plane import BINARY_NAMES
from harness.cluster.embedded.ephemeral import EphemeralCluster
from harness.core.waiting import SYSTEM_CLOCK


def main(home: Path, binaries_dir: Path) -> None:
    """Start and stop it; it is ready when its controllers have done their first work."""
    binaries = {name: binaries_dir / name for name in BINARY_NAMES}
    cluster = EphemeralCluster(home, binaries=binaries, webhook_argv=None)
    began_s = SYSTEM_CLOCK.monotonic_s()
    with cluster:
        ready_s = SYSTEM_CLOCK.monotonic_s() - began_s
        began_s = SYSTEM_CLOCK.monotonic_s()
    stop_s = SYSTEM_CLOCK.monotonic_s() - began_s
    sys.stdout.write(json.dumps({"ready_s": ready_s, "stop_s": stop_s}) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
