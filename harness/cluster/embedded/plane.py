"""The processes of a running control plane: their logs, their ledger, their health, their end.

Owns what is true of a plane once its processes are started; refuses to know in which order that
happens. Made by `control_plane`, kept by the ephemeral cluster and by the supervisor.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.embedded.flags import Ports
from harness.cluster.embedded.pki import ADMIN_USER, Pki
from harness.cluster.home import commands_below, write_ledger
from harness.cluster.provider import Cluster
from harness.cluster.services.heard import log_tail
from harness.cluster.services.processes import LabProcess, start_webhook
from harness.core.process import Child, scrubbed_environment
from harness.errors import ClusterError

#: Bytes kept of each process's log.
_LOG_LIMIT_BYTES = 64 * 1024 * 1024

#: What Go and Python say when a port cannot be bound.
_PORT_TAKEN = "address already in use"

#: What everybody says when a write finds no room: strerror of ENOSPC.
_DISK_FULL = "no space left on device"

#: The same error of a user who may watch no more files. The API server goes on without, and tries
#: again. Source: k8s.io/apiserver pkg/server/dynamiccertificates
_WATCHES_FULL = "error adding watch"

#: Characters of a log that are looked at for that, and of the line that goes into an error.
_LOOK_BACK_CHARS = 4000
_SAID_CHARS = 400


class PortTakenError(ClusterError):
    """Somebody was quicker; other ports will do."""


@dataclass(slots=True, kw_only=True)
class ControlPlane:
    """A running control plane.

    Attributes:
        cluster: What its users see; set once it is ready.
        state_dir: Its folder.
        pki: Its certificates.
        ports: Its ports.
        children: Name to process, in the order of their start.
        webhook: The admission webhook; None where there is none.
        webhook_argv: Its command; None starts no webhook.
        nodes: How many nodes without containers it has.
    """

    state_dir: Path
    pki: Pki
    ports: Ports
    children: dict[str, Child]
    webhook_argv: Sequence[str] | None
    nodes: int = 0
    webhook: LabProcess | None = None
    cluster: Cluster | None = None

    def log_path(self, name: str) -> Path:
        """Return the log of one of its processes."""
        return self.state_dir / "logs" / f"{name}.log"

    def record(self) -> None:
        """Write the ledger, with this process as the owner."""
        pids = {name: child.pid for name, child in self.children.items()}
        if self.webhook is not None:
            pids["webhook"] = self.webhook.pid
        write_ledger(self.state_dir, commands_below(pids), owner_pid=os.getpid())

    def spawn(
        self, name: str, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> None:
        """Start one of its processes, with next to nothing of the caller's environment."""
        log = self.log_path(name)
        self.children[name] = Child(
            argv,
            env=scrubbed_environment(env or {}, keep=("PATH", "TMPDIR", "TZ")),
            cwd=self.state_dir,
            stdout_path=log,
            stderr_path=log,
            limit_bytes=_LOG_LIMIT_BYTES,
        )

    def check(self) -> None:
        """Do nothing while every process but the webhook lives.

        Raises:
            ClusterError: One ended; the message has the end of its log.
        """
        for name, child in self.children.items():
            if not child.running:
                ended = child.end()
                tail = log_tail(self.log_path(name))
                kind = PortTakenError if _PORT_TAKEN in tail else ClusterError
                msg = f"{name} exited {ended.returncode}: {tail}"
                raise kind(msg, hint="read the message of the process, then start again")

    def check_space(self) -> None:
        """Do nothing while nobody complains that the disk is full.

        The API server does not end then: it refuses every request, because it cannot record it.

        Raises:
            ClusterError: One did; the message has its line.
        """
        for name in self.children:
            lines = log_tail(self.log_path(name), _LOOK_BACK_CHARS).split(" | ")
            full = (line for line in lines if _DISK_FULL in line and _WATCHES_FULL not in line)
            if said := next(full, None):
                msg = f"{name}: {said[-_SAID_CHARS:]}"
                hint = "free some disk, or set STRANDLINE_HOME to another one"
                raise ClusterError(msg, hint=hint)

    def warm_webhook(self) -> None:
        """Start the webhook's process without its configuration; its imports take a second."""
        if self.webhook_argv is not None:
            self.webhook = start_webhook(log_path=self.log_path("webhook"), argv=self.webhook_argv)

    def configure_webhook(self) -> None:
        """Tell the webhook what it is, and wait until it serves."""
        if self.webhook is None:
            return
        pki = self.state_dir / "pki"
        self.webhook.configure(
            {
                "host": "127.0.0.1",
                "port": self.ports.webhook,
                "cert_path": str(pki / "webhook-server.crt"),
                "key_path": str(pki / "webhook-server.key"),
                "kubeconfig_path": str(self.state_dir / "webhook.kubeconfig"),
                "harness_user": ADMIN_USER,
            }
        )
        try:
            self.webhook.ready()
        except ClusterError as error:
            if _PORT_TAKEN in error.message:
                raise PortTakenError(error.message) from error
            raise

    def end(self) -> None:
        """End every process at once, last first; its data is thrown away. Idempotent."""
        with ExitStack() as stack:  # each is ended, even when the end of another raises
            for child in self.children.values():
                stack.callback(child.end, at_once=True)
            if self.webhook is not None:
                stack.callback(self.webhook.end, at_once=True)
