"""The provider of a cluster that somebody else made: named, allowed, proved, never deleted.

A context is used only when a person names it and has allowed it; what answers must be the cluster
that was provisioned. Called through `harness.cluster.providers`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from harness.cluster.existing.allowed import allowed_contexts_path, read_allowed, require_allowed
from harness.cluster.existing.contexts import Context, ask, read_context, write_copy
from harness.cluster.home import state_dir_of
from harness.cluster.identity import read_identity, record_identity
from harness.cluster.provider import CLUSTER_FILE, Cluster, Node, Progress
from harness.cluster.toolchain import Toolchain
from harness.core.files import sha256_hex
from harness.errors import AnotherClusterError, ClusterError, ConfigError, TeardownError

#: Names of the environment variables that stand in for the options.
CONTEXT_VARIABLE = "STRANDLINE_CONTEXT"
IMAGE_VARIABLE = "STRANDLINE_LAB_IMAGE"

#: Beginning of the names of the state folders.
PREFIX = "existing-"

#: File that answers for what the platform made; it is gone once that is swept.
INVENTORY_FILE = "inventory.json"

#: Seconds for one question to an API server that may be far away.
_ASK_TIMEOUT_S = 20.0


class ExistingProvider:
    """One context of a person's kubeconfig."""

    name = "existing"
    keeps_cluster = True

    def __init__(
        self,
        *,
        context: str | None = None,
        kubeconfig: Path | None = None,
        image: str | None = None,
        laboratory: bool = True,
        kubectl: Path | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """Remember what was named; nothing is asked yet.

        Args:
            context: Name of the context; None takes `$STRANDLINE_CONTEXT`.
            kubeconfig: Its file; None takes what `KUBECONFIG` names.
            image: Reference of the laboratory's image, which is on the nodes and is never pulled;
                None takes `$STRANDLINE_LAB_IMAGE`.
            laboratory: Whether the laboratory's services are to run there; else no image is needed.
            kubectl: The binary; None looks on PATH, and provision takes the toolchain's.
            environ: Environment.
        """
        self._context = context or environ.get(CONTEXT_VARIABLE) or None
        self._kubeconfig = kubeconfig
        self._image = (image or environ.get(IMAGE_VARIABLE) or None) if laboratory else None
        self._laboratory = laboratory
        self._kubectl = kubectl
        self._environ = environ

    def ephemeral(
        self, home: Path, *, toolchain: Toolchain, progress: Progress
    ) -> AbstractContextManager[Cluster]:
        """Refuse: the platform of a person's cluster comes and goes when that person says so."""
        del home, toolchain, progress
        msg = f"context {self._named()!r} is not provisioned, and no cluster is made in its place"
        raise ClusterError(msg, hint="run `strandline provision --cluster existing` first")

    def provision(self, home: Path, *, toolchain: Toolchain, progress: Progress) -> Cluster:
        """Keep which cluster this is and return it. Creates nothing on it. Idempotent."""
        self._kubectl = self._kubectl or toolchain.ensure(["kubectl"])["kubectl"]
        context = self._allowed_context()
        if self._laboratory and self._image is None:
            msg = "no image of the laboratory's services is named, and the cluster must run one"
            hint = (
                "build one with `strandline image lab`, load it on the nodes, and name it with"
                f" --image or {IMAGE_VARIABLE}"
            )
            raise ConfigError(msg, hint=hint)
        state_dir = self._state_dir(home)
        (state_dir / "logs").mkdir(parents=True, mode=0o700, exist_ok=True)
        kubeconfig = write_copy(context, state_dir)
        record_identity(state_dir, self._uid(kubeconfig))
        version = self._ask(kubeconfig, "version")["serverVersion"]["gitVersion"]
        nodes = self._ask(kubeconfig, "get", "nodes")["items"]
        progress(f"context {context.name} at {context.server}, Kubernetes {version}")
        cluster = Cluster(
            provider=self.name,
            name=state_dir.name,
            kubeconfig=kubeconfig,
            server=context.server,
            ca_pem=context.ca_pem,
            capabilities=_capabilities(nodes=bool(nodes), laboratory=self._laboratory),
            versions={"kubernetes": version},
            audit_log_path=None,
            state_dir=state_dir,
            image=self._image,
        )
        cluster.save(state_dir / CLUSTER_FILE)
        return cluster

    def find(self, home: Path) -> Cluster | None:
        """Return the provisioned cluster of the context, after proof that it is the same one.

        None means that no context of anybody's is provisioned in this home. Where another one is,
        that is said: what was made on it is not gone because this context was named.
        """
        provisioned = sorted(
            path.parent.name for path in home.glob(f"clusters/{PREFIX}*/{CLUSTER_FILE}")
        )
        if not provisioned:
            return None
        context = self._allowed_context()
        state_dir = self._state_dir(home)
        if state_dir.name not in provisioned:
            msg = f"context {context.name!r} is not provisioned, {', '.join(provisioned)} is"
            raise ClusterError(msg, hint="name the context that was provisioned, or provision it")
        cluster = Cluster.load(state_dir / CLUSTER_FILE)
        if cluster.server != context.server:
            msg = (
                f"context {context.name!r} points to {context.server}, and was provisioned at "
                f"{cluster.server}"
            )
            raise ClusterError(msg, hint="point the context back, or name the one that you mean")
        write_copy(context, state_dir)  # a certificate or a token may have been renewed
        found, expected = self._uid(cluster.kubeconfig), read_identity(state_dir)
        if found != expected:
            raise AnotherClusterError(expected=expected, found=found)
        return cluster

    def teardown(self, home: Path) -> None:
        """Forget the cluster; what we made there must be swept before. Idempotent.

        Raises:
            TeardownError: The platform still stands on it: without its record nobody could tell
                what is ours.
        """
        self._allowed_context()
        state_dir = self._state_dir(home)
        if (state_dir / INVENTORY_FILE).exists() or (state_dir / "platform").exists():
            left = (f"platform of {state_dir.name} (it was not swept)",)
            raise TeardownError(left, hint="sweep the platform first")
        shutil.rmtree(state_dir, ignore_errors=True)

    def node(self, cluster: Cluster) -> Node | None:
        """Return None: the inside of somebody's nodes is not ours to enter."""
        del cluster
        return None

    def abandoned(self, home: Path, *, older_than_s: float) -> tuple[str, ...]:
        """Return nothing: its owner is a person, who is never found dead."""
        del home, older_than_s
        return ()

    def reap(self, home: Path, *, older_than_s: float) -> None:
        """Do nothing: a cluster of somebody's is only left when it is torn down by name."""
        del home, older_than_s

    def _named(self) -> str:
        if self._context is None:
            msg = "the provider 'existing' works on no context that is not named"
            raise ConfigError(msg, hint=f"name one with --context or {CONTEXT_VARIABLE}")
        return self._context

    def _allowed_context(self) -> Context:
        name = self._named()
        context = read_context(
            name,
            kubectl=self._found_kubectl(),
            kubeconfig=self._kubeconfig,
            environ=self._environ,
        )
        path = allowed_contexts_path(self._environ)
        require_allowed(read_allowed(path), context=name, server=context.server, path=path)
        return context

    def _found_kubectl(self) -> Path:
        if self._kubectl is None:
            found = shutil.which("kubectl", path=self._environ.get("PATH"))
            self._kubectl = Path(found or "kubectl")  # the process says it when there is none
        return self._kubectl

    def _state_dir(self, home: Path) -> Path:
        return state_dir_of(home, state_name(self._named()))

    def _uid(self, kubeconfig: Path) -> str:
        found = self._ask(kubeconfig, "get", "namespace", "kube-system")
        return str(found["metadata"]["uid"])

    def _ask(self, kubeconfig: Path, *arguments: str) -> Any:
        return ask(
            self._found_kubectl(),
            kubeconfig,
            *arguments,
            timeout_s=_ASK_TIMEOUT_S,
            environ=self._environ,
        )


def _capabilities(*, nodes: bool, laboratory: bool) -> frozenset[str]:
    """Return what it can do; nobody gives us the audit log, or a way to this machine. Pure."""
    found = {"nodes": nodes, "webhook": laboratory, "controller_manager": True}
    return frozenset(name for name, there in found.items() if there)


def state_name(context: str) -> str:
    """Return the name of a context's state folder; no two contexts share one. Pure."""
    plain = re.sub(r"[^A-Za-z0-9.-]", "-", context)
    # What had to be replaced, or is too long for a folder, is told apart by a digest.
    tail = "" if plain == context and len(plain) <= 60 else f"-{sha256_hex(context.encode())[:8]}"
    return f"{PREFIX}{plain[:60]}{tail}"
