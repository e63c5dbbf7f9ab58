"""A cluster for one command: its processes are children of the harness and die with it.

Called through the provider, on the main thread.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from harness.cluster.embedded.control_plane import start_control_plane
from harness.cluster.embedded.plane import ControlPlane
from harness.cluster.embedded.ports import free_ports
from harness.cluster.home import create_state_dir, reap, remove
from harness.cluster.provider import Cluster


class EphemeralCluster:
    """Context manager: a cluster inside, nothing of it after."""

    def __init__(
        self,
        home: Path,
        *,
        binaries: Mapping[str, Path],
        webhook_argv: Sequence[str] | None,
        nodes: int = 0,
        pick_ports: Callable[[int], tuple[int, ...]] = free_ports,
    ) -> None:
        """Start nothing yet.

        Args:
            home: Folder of the harness's state.
            binaries: Name to path of `control_plane.binary_names(nodes)`.
            webhook_argv: Command of the webhook; None starts none.
            nodes: How many nodes without containers it has.
            pick_ports: Gives free ports.
        """
        self._home = home
        self._binaries = binaries
        self._webhook_argv = webhook_argv
        self._nodes = nodes
        self._pick_ports = pick_ports
        self._state_dir: Path | None = None
        self._plane: ControlPlane | None = None

    @property
    def plane(self) -> ControlPlane:
        """The running control plane; only inside the `with` block."""
        if self._plane is None:
            raise AssertionError
        return self._plane

    def __enter__(self) -> Cluster:
        """Reap what dead owners left, start a cluster, and return it once it works."""
        reap(self._home)
        name = f"ephemeral-{secrets.token_hex(4)}"
        self._state_dir = create_state_dir(self._home, name, owner_pid=os.getpid())
        try:
            self._plane = start_control_plane(
                self._state_dir,
                binaries=self._binaries,
                webhook_argv=self._webhook_argv,
                nodes=self._nodes,
                pick_ports=self._pick_ports,
            )
        except BaseException:
            remove(self._state_dir)
            raise
        if self._plane.cluster is None:  # pragma: no cover - a started plane has one
            raise AssertionError
        return self._plane.cluster

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every process and remove the folder."""
        try:
            if self._plane is not None:
                self._plane.end()
        finally:
            if self._state_dir is not None:
                remove(self._state_dir)
