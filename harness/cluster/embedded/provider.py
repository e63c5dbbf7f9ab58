"""The embedded provider: binaries from the toolchain, then an ephemeral or a provisioned cluster.

Called through `harness.cluster.providers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from harness.cluster.embedded.control_plane import binary_names
from harness.cluster.embedded.ephemeral import EphemeralCluster
from harness.cluster.embedded.provisioned import find_provisioned, provision, teardown
from harness.cluster.home import reap, stale_state_dirs
from harness.cluster.provider import Cluster, Node, Progress
from harness.cluster.services.processes import lab_argv
from harness.cluster.toolchain import Toolchain


class EmbeddedProvider:
    """A control plane as child processes on this machine."""

    name = "embedded"
    keeps_cluster = False

    def __init__(
        self,
        *,
        webhook_argv: Sequence[str] | None = None,
        laboratory: bool = True,
        nodes: int = 0,
    ) -> None:
        """Start nothing yet.

        Args:
            webhook_argv: Command of the webhook; None means the laboratory's.
            laboratory: Whether its clusters have a webhook.
            nodes: How many nodes without containers they have.
        """
        argv = lab_argv("webhook") if webhook_argv is None else webhook_argv
        self._webhook_argv = argv if laboratory else None
        self._nodes = nodes

    def ephemeral(
        self, home: Path, *, toolchain: Toolchain, progress: Progress
    ) -> AbstractContextManager[Cluster]:
        """Return a cluster that lives as long as the `with` block. Enter it on the main thread."""
        binaries = toolchain.ensure(binary_names(self._nodes))
        progress("starting an embedded cluster")
        return EphemeralCluster(
            home, binaries=binaries, webhook_argv=self._webhook_argv, nodes=self._nodes
        )

    def provision(self, home: Path, *, toolchain: Toolchain, progress: Progress) -> Cluster:
        """Start a cluster that outlives this process, or return the one that is there."""
        return provision(
            home,
            binaries=toolchain.ensure(binary_names(self._nodes)),
            webhook_argv=self._webhook_argv,
            nodes=self._nodes,
            progress=progress,
        )

    def find(self, home: Path) -> Cluster | None:
        """Return the provisioned cluster; None when there is none that lives."""
        return find_provisioned(home)

    def teardown(self, home: Path) -> None:
        """End the provisioned cluster and remove its state. Idempotent."""
        teardown(home)

    def node(self, cluster: Cluster) -> Node | None:
        """Return None: nothing runs in pods here."""
        del cluster
        return None

    def abandoned(self, home: Path, *, older_than_s: float) -> tuple[str, ...]:
        """Return the clusters of this home whose owner is gone, whatever their age."""
        del older_than_s
        return tuple(f"cluster {folder.name}" for folder in stale_state_dirs(home))

    def reap(self, home: Path, *, older_than_s: float) -> None:
        """End their processes and remove their folders. Idempotent."""
        del older_than_s
        reap(home)
