"""The kind command line: make a cluster, and bring an image to its node.

It is never asked to list or to delete: it knows only what carries its label, and edits a kubeconfig
that may be gone. The engine does that. Called by the start of a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.cluster.kind.engine import Engine, last_line
from harness.core.files import PRIVATE_MODE, write_json
from harness.errors import ClusterError, PrerequisiteError

#: Seconds for `kind create cluster`; it takes 15 to 35 s here, and as long again for each of the
#: two minutes that a slow network needs for kind's own node image.
_CREATE_TIMEOUT_S = 480.0

#: Seconds within that for the node to become Ready.
_NODE_READY_S = 180

#: Seconds for an image archive of 0.2 GB; it takes 5 s.
_LOAD_TIMEOUT_S = 180.0

#: Characters of kind's own words in a message.
_TAIL_CHARS = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """The program, with the engine that it is to use.

    Attributes:
        path: The binary.
        engine: What runs the nodes.
    """

    path: Path
    engine: Engine

    def create(self, name: str, *, config: object, kubeconfig: Path, log_path: Path) -> None:
        """Make a cluster and wait until its node is Ready. What fails is taken down by kind.

        Args:
            name: The cluster's.
            config: What `kind_config` returns.
            kubeconfig: Where kind writes the admin's; never the user's own.
            log_path: Where kind's own words go.

        Raises:
            PrerequisiteError: The node image cannot be pulled.
            ClusterError: Anything else.
        """
        config_path = log_path.with_suffix(".config.json")
        write_json(config_path, config, mode=PRIVATE_MODE)
        self._run(
            [
                *("create", "cluster", f"--name={name}", f"--config={config_path}"),
                *(f"--kubeconfig={kubeconfig}", f"--wait={_NODE_READY_S}s"),
            ],
            timeout_s=_CREATE_TIMEOUT_S,
            log_path=log_path,
        )

    def load(self, name: str, archive: Path, *, log_path: Path) -> None:
        """Bring an image archive to the cluster's node. Idempotent.

        Raises:
            ClusterError: It was not taken.
        """
        self._run(
            ["load", "image-archive", str(archive), f"--name={name}"],
            timeout_s=_LOAD_TIMEOUT_S,
            log_path=log_path,
        )

    def _run(self, arguments: list[str], *, timeout_s: float, log_path: Path) -> None:
        finished = self.engine.run(
            [str(self.path), *arguments],
            env=self.engine.environment,
            timeout_s=timeout_s,
            keep_survivors=True,  # the node is one
        )
        with log_path.open("a", encoding="utf-8") as log:
            log.write(finished.stdout + finished.stderr)
        if not finished.returncode and not finished.timed_out:
            return
        what = f"kind {' '.join(arguments[:2])}"
        if "failed to pull image" in finished.stderr:
            msg = f"{what}: the node image cannot be pulled: {_why(finished.stderr)}"
            raise PrerequisiteError(msg, hint="run make node-image")
        why = f"not done within {timeout_s:g} s" if finished.timed_out else _why(finished.stderr)
        msg = f"{what}: {why}"
        raise ClusterError(msg, hint="read the reason, then try again")


def _why(stderr: str) -> str:
    """Return what kind says the error was, or its last words. Pure."""
    at = stderr.find("ERROR: ")
    return stderr[at : at + _TAIL_CHARS].strip() if at >= 0 else last_line(stderr)
