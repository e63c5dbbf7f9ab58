"""What every attempt of a run shares: one cluster with its platform, one engine, one client."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.bench.layout import Layout
from harness.cluster.provider import Cluster, Node
from harness.kube.audit import AuditLog
from harness.kube.client import KubeClient
from harness.kube.resources import Resource
from harness.specs.loader import LoadedSpec
from harness.terraform.copies import holds_copy
from harness.terraform.engine import Engine, engine_environment
from harness.terraform.stack import Stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A cluster that is ready for attempts.

    Attributes:
        layout: Where stacks and policies come from.
        home: The harness's own folder; attempts keep their working copies below it.
        engine: Terraform or OpenTofu.
        kubectl: The kubectl that agents are given.
        cluster: The control plane.
        node: The inside of its node; None where there is none, or none that we may enter.
        client: Acts as the cluster's admin.
        kinds: Every kind that the cluster has.
        specs: The safety specs.
        strangers: Fingerprint of everything that is not a run's, when the session began.
    """

    layout: Layout
    home: Path
    engine: Engine
    kubectl: Path
    cluster: Cluster
    node: Node | None
    client: KubeClient
    kinds: Sequence[Resource]
    specs: Sequence[LoadedSpec]
    strangers: Mapping[str, str]

    @property
    def audit(self) -> AuditLog | None:
        """The cluster's audit log; None when it has none that we can read."""
        path = self.cluster.audit_log_path
        return AuditLog(path) if path else None


def _environment(engine: Engine, cluster: Cluster | None, work_dir: Path) -> dict[str, str]:
    """Return the environment of a stack's commands, in which they reach the cluster if any."""
    names = ("KUBE_CONFIG_PATH", "KUBECONFIG")
    extra = dict.fromkeys(names, str(cluster.kubeconfig)) if cluster else {}
    return engine_environment(engine, work_dir=work_dir, extra=extra, ambient=os.environ)


def create_stack(
    *,
    engine: Engine,
    cluster: Cluster,
    stack_dir: Path,
    policies_dir: Path | None,
    work_dir: Path,
    values: Mapping[str, Any],
    log_path: Path,
) -> Stack:
    """Return a private copy of a stack, ready for init; each of its commands is a line in a log."""
    work_dir.mkdir(parents=True, exist_ok=True)
    return Stack.create(
        engine,
        stack_dir=stack_dir,
        policies_dir=policies_dir,
        work_dir=work_dir,
        values=values,
        environment=_environment(engine, cluster, work_dir),
        log_path=log_path,
    )


def find_stack(*, engine: Engine, cluster: Cluster, work_dir: Path) -> Stack | None:
    """Return a copy, for a sweep; None where none was made whole, so that nothing was applied.

    Raises:
        HarnessError: It is there and cannot be opened, so what it made is unknown.
    """
    if not holds_copy(work_dir):
        return None
    return open_stack(engine=engine, cluster=cluster, work_dir=work_dir)


def open_stack(*, engine: Engine, cluster: Cluster | None, work_dir: Path) -> Stack:
    """Return a copy that is there, for a sweep; without a cluster only what is elsewhere goes."""
    return Stack(
        engine,
        work_dir=work_dir,
        environment=_environment(engine, cluster, work_dir),
        log_path=work_dir / "terraform.log",
    )
