"""The laboratory's processes beside a cluster: started early, told what to be, ended.

A process is `python -m harness.lab NAME`. It imports what it needs, reads its configuration as one
line of JSON from standard input (so that no token is ever in an argument or in the environment),
and says `ready {json}` in one line. Refuses to know what a laboratory does. Called by the embedded
cluster for its webhook, and by whoever runs an attempt for the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness.cluster.services.heard import Heard, log_tail
from harness.core.files import canonical_json
from harness.core.process import Child, scrubbed_environment
from harness.errors import ClusterError

#: Seconds from its configuration until a process of the laboratory is ready. Its imports take 1 to
#: 2 s on two busy cores.
READY_TIMEOUT_S = 30.0

#: Bytes kept of each stream of a process.
_LOG_LIMIT_BYTES = 64 * 1024 * 1024

#: Names of the environment that a process of ours is given: what Python needs, and no setting.
KEPT_NAMES = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONPATH")


def lab_argv(name: str) -> list[str]:
    """Return the command of a process of the laboratory. Pure."""
    return [sys.executable, "-m", "harness.lab", name]


class LabProcess:
    """One process of the laboratory; it is started, and imports, as soon as this is made.

    Use it as a context manager, or call `end`. It dies with the thread that made it.
    """

    def __init__(self, name: str, *, log_path: Path, argv: Sequence[str] | None = None) -> None:
        """Start it.

        Args:
            name: What it is, for messages; also its argument when `argv` is None.
            log_path: File that both of its streams are appended to.
            argv: Another command, for example a stand-in.
        """
        self.name = name
        self.log_path = log_path
        self._heard = Heard(name, log_path=log_path)
        self._child = Child(
            lab_argv(name) if argv is None else argv,
            env=scrubbed_environment({"PYTHONUNBUFFERED": "1"}, keep=KEPT_NAMES),
            stdin_open=True,
            stdout_path=log_path,
            stderr_path=log_path,
            on_line=self._heard,
            limit_bytes=_LOG_LIMIT_BYTES,
        )

    @property
    def pid(self) -> int:
        """The pid of its leash."""
        return self._child.pid

    @property
    def running(self) -> bool:
        """Whether anything of it is still there."""
        return self._child.running

    @property
    def paused_at(self) -> str | None:
        """The point at which it stopped itself, as it was told to; None while it works."""
        return self._heard.paused_at

    def configure(self, config: Mapping[str, Any]) -> None:
        """Send its configuration, once.

        Raises:
            ClusterError: It is not there any more; the message has the end of its log.
        """
        sent = self._child.write_stdin(canonical_json(dict(config)) + b"\n")
        self._child.close_stdin()
        if not sent:
            raise self._ended()

    def ready(self, timeout_s: float = READY_TIMEOUT_S) -> Any:
        """Wait until it says that it is ready; return what it says beside.

        Raises:
            ClusterError: It ended, said something else than JSON, or said nothing in time.
        """
        return self._heard.ready(
            timeout_s=timeout_s, ended=lambda: None if self.running else self._ended()
        )

    def crash(self) -> None:
        """Kill it with SIGKILL, and wait until it is gone."""
        self._child.crash()
        self.end(at_once=True)

    def freeze(self) -> None:
        """Stop it with SIGSTOP, wherever it is."""
        self._child.freeze()

    def thaw(self) -> None:
        """Let it go on, with SIGCONT; what stopped itself before goes on too."""
        self._child.thaw()

    def end(self, *, at_once: bool = False) -> None:
        """End it, with a grace of 2 s unless `at_once`. Idempotent."""
        self._child.end(at_once=at_once)

    def _ended(self) -> ClusterError:
        ended = self._child.end()
        msg = f"{self.name} exited {ended.returncode}: {log_tail(self.log_path)}"
        return ClusterError(msg, hint=f"read {self.log_path}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()


def start_webhook(*, log_path: Path, argv: Sequence[str] | None = None) -> LabProcess:
    """Start the admission webhook: one a cluster."""
    return LabProcess("webhook", log_path=log_path, argv=argv)


def start_controller(*, log_path: Path, argv: Sequence[str] | None = None) -> LabProcess:
    """Start the laboratory's controller: one an attempt."""
    return LabProcess("controller", log_path=log_path, argv=argv)


def start_instruments(*, log_path: Path, argv: Sequence[str] | None = None) -> LabProcess:
    """Start the simulated instruments: one process an attempt."""
    return LabProcess("instruments", log_path=log_path, argv=argv)
