"""A kubectl that prints what a pod prints, for as long as it is not ended. Called by the pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.cluster.services.heard import Heard, log_tail
from harness.core.process import Child
from harness.errors import ClusterError

#: Seconds until a pod of the laboratory says that it is ready: on two busy cores its imports take
#: up to 5 s, and a container that was killed is started again at once.
READY_TIMEOUT_S = 60.0

#: Bytes kept of each pod's log.
_LOG_LIMIT_BYTES = 64 * 1024 * 1024


class Follower:
    """One running kubectl."""

    def __init__(
        self, name: str, argv: Sequence[str], *, environment: Mapping[str, str], log_path: Path
    ) -> None:
        self._name = name
        self.log_path = log_path
        self.heard = Heard(name, log_path=log_path)
        self._lines: list[str] = []
        self.child = Child(
            argv,
            env=environment,
            stdout_path=log_path,
            stderr_path=log_path,
            on_line=self._take,
            limit_bytes=_LOG_LIMIT_BYTES,
        )

    def lines(self) -> tuple[str, ...]:
        """Return the first lines that it printed."""
        return tuple(self._lines)

    def ready(self) -> None:
        """Wait until the pod says that it is ready."""
        self.heard.ready(timeout_s=READY_TIMEOUT_S, ended=self._ended)

    def end(self) -> None:
        """End it. Idempotent."""
        self.child.end(at_once=True)

    def _take(self, line: str) -> None:
        if len(self._lines) < 3:  # the port stands in the first; a port-forward goes on for ever
            self._lines.append(line)
        self.heard(line)

    def _ended(self) -> ClusterError | None:
        if self.child.running:
            return None
        self.child.end()
        msg = f"{self._name} ended before it was ready: {log_tail(self.log_path)}"
        return ClusterError(msg, hint=f"read {self.log_path}")
