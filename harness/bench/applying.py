"""The apply of what a cluster is provisioned with: once, recorded, taken up after a kill.

Refuses to put one foundation on top of another, and to touch a cluster where a platform stands that
is not ours. Called through `foundation`.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from harness.bench.inventory import (
    apply_recorded,
    keep_standing,
    read_inventory,
    refuse_standing_platform,
)
from harness.bench.layout import policy_names
from harness.bench.platform_sweep import WORKING_COPY, sweep_admission
from harness.bench.proof import keep_identity, prove_cluster
from harness.bench.record import Record, read_record
from harness.bench.session import create_stack, find_stack
from harness.bench.teardown import take_platform_down
from harness.bench.tools import Tools, engine_with_provider
from harness.cluster.provider import Cluster
from harness.cluster.services.webhook import webhook_values
from harness.errors import ClusterError
from harness.kube.client import KubeClient
from harness.terraform.engine import Engine
from harness.terraform.stack import Stack


def apply(tools: Tools, wanted: Record, cluster: Cluster) -> None:
    """Apply a foundation unless this very one stands there; take up one that was begun. Idempotent.

    One that was begun and has been changed since is taken down first.

    Raises:
        ClusterError: Another one stands there, or was begun.
        TeardownError: What was begun cannot be taken down whole.
    """
    found = read_record(cluster.state_dir)
    if found is None and (cluster.state_dir / WORKING_COPY).exists():
        msg = f"cluster {cluster.name}: a stack stands there of which there is no record"
        raise ClusterError(msg, hint="run `strandline teardown`, then provision again")
    if found is not None and (found.complete or found.another(wanted)):
        found.refuse_other(wanted, cluster=cluster.name)
        return
    engine = engine_with_provider(tools)
    if found is not None and found.change(wanted):
        tools.say(f"taking down what was begun of {found.stack_dir}: it has changed since")
        take_platform_down(tools, cluster)
        found = None
    tools.say(f"applying {wanted.stack_dir}")
    values = _values(tools, wanted, cluster, fresh=found is None)
    wanted.write(cluster.state_dir, complete=False)
    stack = _copy(engine, wanted, cluster, values)
    stack.init()
    if found is not None:
        _clear_the_way(stack, cluster)
    apply_recorded(stack, cluster.state_dir)
    for one in _adopted(cluster):
        tools.say(f"{one} stood there before, and is never deleted by us")
    wanted.write(cluster.state_dir, complete=True)


def _values(tools: Tools, wanted: Record, cluster: Cluster, *, fresh: bool) -> Mapping[str, Any]:
    """Return what the stack is applied with, once this is the cluster that it may be applied to."""
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        keep_identity(client, cluster)
        if not wanted.laboratory:
            keep_standing(client, cluster.state_dir)
            return tools.resolve(wanted.stack_dir, wanted.overrides).values
        if fresh:
            refuse_standing_platform(client, policies=policy_names(wanted.policies_dir))
        return webhook_values(cluster, harness_user=client.user())


def _clear_the_way(stack: Stack, cluster: Cluster) -> None:
    """Take the registrations of an earlier start away: their server may be gone, and they block."""
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        proven = prove_cluster(client, cluster)
        sweep_admission(proven, state_dir=cluster.state_dir, stack=stack)


def _adopted(cluster: Cluster) -> tuple[str, ...]:
    inventory = read_inventory(cluster.state_dir)
    adopted = inventory.adopted if inventory else ()
    return tuple(f"{one.kind} {one.namespace or '-'}/{one.name}" for one in adopted)


def _copy(engine: Engine, wanted: Record, cluster: Cluster, values: Mapping[str, Any]) -> Stack:
    """Return the working copy: the one that was begun, which knows what it made, or a new one."""
    work_dir = cluster.state_dir / WORKING_COPY
    if begun := find_stack(engine=engine, cluster=cluster, work_dir=work_dir):
        return begun
    shutil.rmtree(work_dir, ignore_errors=True)  # not copied whole, so never applied
    return create_stack(
        engine=engine,
        cluster=cluster,
        stack_dir=wanted.stack_dir,
        policies_dir=wanted.policies_dir,
        work_dir=work_dir,
        values=values,
        log_path=cluster.state_dir / "logs" / "terraform.log",
    )
