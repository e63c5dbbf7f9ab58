"""Sweep a cluster by a record, killed after one step after the other: `KUBECONFIG DIR STEP...`.

Prints one line a step: the signal that ended the process that was sweeping.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from harness.bench.platform_sweep import sweep_platform
from harness.kube.client import KubeClient
from harness.kube.identity_guard import prove_identity


def sweep(kubeconfig: Path, state_dir: Path, last: str) -> None:
    """Sweep, and die after a step as `kill -9` lets one die."""
    client = KubeClient.from_kubeconfig(kubeconfig)

    def on_step(step: str) -> None:
        if step == last:
            os.kill(os.getpid(), signal.SIGKILL)

    proven = prove_identity(client, client.identity())
    sweep_platform(proven, state_dir=state_dir, stack=None, on_step=on_step)


def main(kubeconfig: str, state_dir: str, *steps: str) -> None:
    """Have one process killed after each step; the next one takes up what it left."""
    for step in steps:
        if (pid := os.fork()) == 0:
            sweep(Path(kubeconfig), Path(state_dir), step)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{step} {os.WTERMSIG(status)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
