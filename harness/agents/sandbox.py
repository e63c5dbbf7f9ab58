"""What an agent's process sees: a home, an identity, a PATH and an environment, built from nothing.

It owns the workspace and says honestly how far it reaches: isolation `process` keeps secrets of
ours out of the environment and ends the whole tree, but user, file system and network are the
harness's own. It refuses to know what the agent does there. `bench` builds one an attempt.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, readable_json, write_atomic
from harness.core.scratch import make_scratch, remove_scratch
from harness.errors import ConfigError

#: Label of the only isolation so far, for the report.
ISOLATION = "process"

#: Names of the caller's environment that every agent sees.
PASSED_NAMES = ("LANG", "LC_ALL", "TZ")

#: Names that the workspace sets itself, and that no caller may pass over them.
_SET_NAMES = ("PATH", "HOME", "KUBECONFIG")

#: Prefixes of the harness's own settings; they hold secrets, and the way to the answers.
_REFUSED_PREFIXES = ("STRANDLINE_", "TF_", "KUBE")

_PRIVATE_DIR_MODE = 0o700


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Where an agent works, and as whom.

    Attributes:
        home: Its home and working directory, 0700.
        kubeconfig: Its identity, 0600.
        kubectl: The kubectl that comes first on its PATH.
        namespace: The attempt's namespace.
        environment: The whole environment of its process.
        secrets: What must be masked wherever its output is kept.
    """

    home: Path
    kubeconfig: Path
    kubectl: Path
    namespace: str
    environment: dict[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False, default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """One ServiceAccount at one API server.

    Attributes:
        server: URL, the relay's.
        ca_pem: Certificate authority of the API server.
        token: Bearer token.
        namespace: Default namespace.
        tls_server_name: Name in the server's certificate when it is not the URL's host.
    """

    server: str
    ca_pem: bytes
    token: str = field(repr=False)
    namespace: str
    tls_server_name: str | None = None


def kubeconfig_document(identity: Identity, *, ca_path: Path) -> dict[str, Any]:
    """Return a kubeconfig (v1 Config) of nothing but server, authority, token, namespace. Pure.

    No client certificate can slip in: kubectl would prefer it to the token.
    """
    cluster = {"server": identity.server, "certificate-authority": str(ca_path)}
    if identity.tls_server_name is not None:
        cluster["tls-server-name"] = identity.tls_server_name
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "agent",
        "clusters": [{"name": "lab", "cluster": cluster}],
        "users": [{"name": "agent", "user": {"token": identity.token}}],
        "contexts": [
            {
                "name": "agent",
                "context": {"cluster": "lab", "user": "agent", "namespace": identity.namespace},
            }
        ],
    }


def passed_environment(names: Sequence[str], *, ambient: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the user hands to the agent by name. Pure.

    Raises:
        ConfigError: A name is the workspace's or the harness's own, or is not set.
    """
    for name in names:
        if name in _SET_NAMES or name.startswith(_REFUSED_PREFIXES):
            msg = f"--agent-env {name}: the agent may not be given this variable"
            raise ConfigError(msg, hint="pass it under another name")
        if name not in ambient:
            msg = f"--agent-env {name}: not set in the environment"
            raise ConfigError(msg, hint=f"export {name}")
    return {name: ambient[name] for name in names}


def agent_path(bin_dir: Path, ambient_path: str) -> str:
    """Return a PATH that opens with `bin_dir`; relative entries are left out. Pure.

    A relative entry would mean another folder in the agent's home than it did in the caller's.
    """
    kept = [entry for entry in ambient_path.split(os.pathsep) if entry.startswith("/")]
    return os.pathsep.join([str(bin_dir), *kept])


@contextmanager
def build_workspace(
    identity: Identity,
    *,
    kubectl: Path,
    agent_env: Sequence[str] = (),
    ambient: Mapping[str, str] = os.environ,
    parent_dir: Path | None = None,
) -> Iterator[Workspace]:
    """Build a workspace, and remove it whatever the agent did to it.

    Args:
        identity: As whom the agent acts, and where.
        kubectl: The binary to put first on its PATH.
        agent_env: Names of `ambient` that the user hands to the agent.
        ambient: The caller's environment.
        parent_dir: Where to make it; None is the system's folder for temporary files.

    Raises:
        ConfigError: A name in `agent_env` is refused or not set.
        TeardownError: Something in it could not be removed.
    """
    passed = passed_environment(agent_env, ambient=ambient)
    root = make_scratch("agent", parent_dir=parent_dir)
    try:
        home, bin_dir = root / "home", root / "bin"
        for folder in (home, bin_dir):
            folder.mkdir(mode=_PRIVATE_DIR_MODE)
        (bin_dir / "kubectl").symlink_to(kubectl.resolve(strict=True))
        ca_path, kubeconfig = root / "ca.crt", home / "kubeconfig"
        write_atomic(ca_path, identity.ca_pem)
        # JSON is YAML, and has one way to write a string.
        document = readable_json(kubeconfig_document(identity, ca_path=ca_path))
        write_atomic(kubeconfig, document, mode=PRIVATE_MODE)
        environment = {name: ambient[name] for name in PASSED_NAMES if name in ambient}
        environment |= passed
        environment |= {
            "PATH": agent_path(bin_dir, ambient.get("PATH", os.defpath)),
            "HOME": str(home),
            "KUBECONFIG": str(kubeconfig),
        }
        yield Workspace(
            home=home,
            kubeconfig=kubeconfig,
            kubectl=bin_dir / "kubectl",
            namespace=identity.namespace,
            environment=environment,
            secrets=(identity.token, *passed.values()),
        )
    finally:
        remove_scratch(root)
