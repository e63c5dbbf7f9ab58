"""The inside of a kind node, through the engine that runs it.

Owns what the API server cannot do or must not be asked; refuses to know why it is done. Called
through the provider by whoever runs an attempt.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.cluster.kind.engine import Engine, last_line
from harness.core.scratch import scratch_folder
from harness.errors import ClusterError

#: Seconds for one command inside of the node; it takes 0.2 s.
_EXEC_TIMEOUT_S = 30.0

#: Bytes of the longest file that is read; an instruments' journal has kilobytes.
_FILE_LIMIT_BYTES = 256 * 1024 * 1024

#: Where kubelet keeps the volumes of pods.
_PODS_DIR = Path("/var/lib/kubelet/pods")

#: containerd's namespace of what kubelet runs.
_CRI_NAMESPACE = "k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class KindNode:
    """The one node of a cluster.

    Attributes:
        engine: What runs it.
        container: Its container's name.
    """

    engine: Engine
    container: str

    def read_file(self, path: Path) -> bytes:
        """Return a file of the node, byte for byte.

        Raises:
            ClusterError: It cannot be read.
        """
        with scratch_folder("node") as folder:
            copy = folder / "file"
            finished = self.engine.run(
                [str(self.engine.path), "exec", self.container, "cat", str(path)],
                env=self.engine.environment,
                timeout_s=_EXEC_TIMEOUT_S,
                stdout_path=copy,
                limit_bytes=_FILE_LIMIT_BYTES,
                keep_survivors=True,
            )
            if finished.returncode or finished.timed_out:
                msg = f"node {self.container}: {path}: {last_line(finished.stderr)}"
                raise ClusterError(msg, hint="check that the node runs")
            return copy.read_bytes()

    def kill_container(self, namespace: str, container: str) -> None:
        """End a container's process with SIGKILL, through the runtime; the pod stays.

        Raises:
            ClusterError: There is not exactly one of that name running in the namespace.
        """
        found = self.execute(
            *("crictl", "ps", "--quiet", "--state", "running"),
            *("--label", f"io.kubernetes.pod.namespace={namespace}"),
            *("--label", f"io.kubernetes.container.name={container}"),
        ).split()
        if len(found) != 1:
            msg = f"{len(found)} running containers {container!r} in {namespace}, expected 1"
            raise ClusterError(msg, hint="look at the pods of the namespace")
        self.execute(
            *("ctr", "--namespace", _CRI_NAMESPACE, "tasks", "kill"),
            *("--signal", "SIGKILL", found[0]),
        )

    def pod_volume_path(self, pod_uid: str, volume: str) -> Path:
        """Return the folder of a pod's emptyDir on the node. Pure."""
        return _PODS_DIR / pod_uid / "volumes" / "kubernetes.io~empty-dir" / volume

    def execute(self, *argv: str) -> str:
        """Run a command inside of the node; return what it printed.

        Raises:
            ClusterError: It ended with an error.
        """
        return self.engine.call("exec", self.container, *argv, timeout_s=_EXEC_TIMEOUT_S)
