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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A control plane that is ready.

    Attributes:
        provider: Name of its provider.
        name: Name of it under that provider.
        kubeconfig: The admin's, 0600.
        server: Address of the API server, for example `https://127.0.0.1:24680`.
        ca_pem: Certificate of the authority that signed the server's certificate.
        capabilities: What it can do, of `audit`, `controller_manager`, `nodes`, `reaches_host`,
            `webhook`.
        versions: Component to version, for example `kubernetes` to `v1.37.2`.
        audit_log_path: The audit log, one JSON event a line; None where there is none to read.
        state_dir: Everything of it, logs included.
        webhook_port: Port on 127.0.0.1 where the admission webhook serves.
        webhook_ca_pem: Certificate of the authority that signed the webhook's certificate.
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
    webhook_port: int
    webhook_ca_pem: bytes

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
                webhook_port=value["webhook_port"],
                webhook_ca_pem=value["webhook_ca_pem"].encode(),
            )
        except KeyError as error:
            msg = f"{path}: no key {error.args[0]!r}"
            raise ClusterError(msg, hint="take the cluster down and provision it again") from error


class ClusterProvider(Protocol):
    """Something that can give a cluster, for one command or until told otherwise."""

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
