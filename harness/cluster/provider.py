"""What every cluster gives, whoever runs it, and what a provider of clusters must be able to do.

Owns the shape alone; refuses to know how any cluster is started. Read by everything above.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from harness.cluster.toolchain import Toolchain
from harness.core.files import PRIVATE_MODE, read_json, write_json
from harness.errors import ClusterError

Progress = Callable[[str], None]

#: File in a cluster's state folder that says what it is; written by `Cluster.save`.
CLUSTER_FILE = "cluster.json"

#: Capability of a cluster whose laboratory's controller can be frozen and replaced while it sleeps.
TWO_CONTROLLERS = "two_controllers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A control plane that is ready.

    Attributes:
        provider: Name of its provider.
        name: Name of it under that provider.
        kubeconfig: The admin's, 0600.
        server: Address of the API server, for example `https://127.0.0.1:24680`.
        ca_pem: Certificate of the authority that signed the server's certificate.
        capabilities: What it can do, of `audit`, `controller_manager`, `node_access`, `nodes`,
            `reaches_host`, `two_controllers`, `webhook`.
        versions: Component to version, for example `kubernetes` to `v1.37.2`.
        audit_log_path: The audit log, one JSON event a line; None where there is none to read.
        state_dir: Everything of it, logs included.
        api_server_logs: Glob of the API server's own logs below `state_dir`; empty where there are
            none to read.
        image: Image of the laboratory's services that the cluster can run; None where they are
            processes of this machine.
        webhook_port: Port on 127.0.0.1 where the admission webhook serves; None with an image.
        webhook_ca_pem: Certificate of the authority that signed the webhook's certificate; empty
            with an image, because the webhook comes with the platform then.
    """

    provider: str
    name: str
    kubeconfig: Path
    server: str
    ca_pem: bytes
    capabilities: frozenset[str]
    versions: Mapping[str, str]
    audit_log_path: Path | None
    state_dir: Path
    api_server_logs: str = ""
    image: str | None = None
    webhook_port: int | None = None
    webhook_ca_pem: bytes = b""

    def api_server_log_paths(self) -> tuple[Path, ...]:
        """Return the API server's own logs that are there now."""
        pattern = self.api_server_logs
        return tuple(sorted(self.state_dir.glob(pattern))) if pattern else ()

    def save(self, path: Path) -> None:
        """Write it as JSON, 0600. It holds no secret, only the paths of some."""
        value = {
            "provider": self.provider,
            "name": self.name,
            "kubeconfig": str(self.kubeconfig),
            "server": self.server,
            "ca_pem": self.ca_pem.decode(),
            "capabilities": sorted(self.capabilities),
            "versions": dict(self.versions),
            "audit_log_path": str(self.audit_log_path) if self.audit_log_path else None,
            "state_dir": str(self.state_dir),
            "api_server_logs": self.api_server_logs,
            "image": self.image,
            "webhook_port": self.webhook_port,
            "webhook_ca_pem": self.webhook_ca_pem.decode(),
        }
        write_json(path, value, mode=PRIVATE_MODE)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote.

        Raises:
            ClusterError: A key is missing, so another version wrote it.
            ConfigError: The file is missing or is not JSON.
        """
        value: dict[str, Any] = read_json(path)
        try:
            audit = value["audit_log_path"]
            return cls(
                provider=value["provider"],
                name=value["name"],
                kubeconfig=Path(value["kubeconfig"]),
                server=value["server"],
                ca_pem=value["ca_pem"].encode(),
                capabilities=frozenset(value["capabilities"]),
                versions=value["versions"],
                audit_log_path=Path(audit) if audit else None,
                state_dir=Path(value["state_dir"]),
                api_server_logs=value["api_server_logs"],
                image=value["image"],
                webhook_port=value["webhook_port"],
                webhook_ca_pem=value["webhook_ca_pem"].encode(),
            )
        except KeyError as error:
            msg = f"{path}: no key {error.args[0]!r}"
            raise ClusterError(msg, hint="take the cluster down and provision it again") from error


class Node(Protocol):
    """The inside of a cluster's node, for what the API server cannot do or must not be asked."""

    def read_file(self, path: Path) -> bytes:
        """Return a file of the node."""
        ...

    def kill_container(self, namespace: str, container: str) -> None:
        """End a container's process with SIGKILL, through the runtime; the pod stays."""
        ...

    def pod_volume_path(self, pod_uid: str, volume: str) -> Path:
        """Return the folder of a pod's emptyDir on the node. Pure."""
        ...


class ClusterProvider(Protocol):
    """Something that can give a cluster, for one command or until told otherwise.

    Attributes:
        name: Its name on the command line and in every record.
        keeps_cluster: Whether the end of a cluster is none of its business: it is somebody's own.
    """

    name: str
    keeps_cluster: bool

    def ephemeral(
        self, home: Path, *, toolchain: Toolchain, progress: Progress
    ) -> AbstractContextManager[Cluster]:
        """Return a cluster that lives as long as the `with` block. Enter it on the main thread."""
        ...

    def provision(self, home: Path, *, toolchain: Toolchain, progress: Progress) -> Cluster:
        """Start a cluster that outlives this process, or return the one that is there."""
        ...

    def find(self, home: Path) -> Cluster | None:
        """Return the provisioned cluster; None when there is none that lives."""
        ...

    def teardown(self, home: Path) -> None:
        """End the provisioned cluster and remove its state. Idempotent."""
        ...

    def node(self, cluster: Cluster) -> Node | None:
        """Return the inside of its node; None where there is none, or none that we may enter."""
        ...

    def abandoned(self, home: Path, *, older_than_s: float) -> tuple[str, ...]:
        """Return, one line each, what nobody alive answers for.

        Args:
            home: Folder of the harness's state.
            older_than_s: Age in seconds from which what has no record in this home counts.
        """
        ...

    def reap(self, home: Path, *, older_than_s: float) -> None:
        """Take down what `abandoned` tells of. Idempotent."""
        ...
