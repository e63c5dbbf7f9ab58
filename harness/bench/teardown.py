"""The end of a provisioned cluster; of somebody's own only what we made there ends.

Attempts that nobody alive answers for go first, then the platform, then the records. Called by the
command of that name.
"""

from __future__ import annotations

from contextlib import closing, suppress

from harness.bench import ledger
from harness.bench.orphans import sweep_orphans
from harness.bench.platform import Tools, engine_with_provider
from harness.bench.platform_sweep import WORKING_COPY, PlatformSwept, sweep_platform
from harness.bench.proof import prove_cluster
from harness.bench.session import open_stack
from harness.cluster.provider import Cluster, ClusterProvider
from harness.errors import ClusterError, HarnessError, TeardownError
from harness.kube.client import KubeClient
from harness.terraform.stack import Stack


def end_cluster(tools: Tools, provider: ClusterProvider) -> tuple[str, ...]:
    """End the provisioned cluster, and say what is left elsewhere, a line each. Idempotent.

    Raises:
        ClusterError: It is somebody's own, and a run that lives works on it.
        TeardownError: Something of ours is left; each is named with what keeps it.
    """
    if provider.keeps_cluster and (cluster := provider.find(tools.home)):
        _refuse_live_attempts(tools, cluster)
        _raise_left(sweep_orphans(tools, providers=[provider], dry_run=False).leftovers)
        take_platform_down(tools, cluster)
    provider.teardown(tools.home)
    after = sweep_orphans(tools, providers=[provider], dry_run=False)
    _raise_left(after.leftovers)
    ledger.remove_empty(tools.home)
    if after.elsewhere:
        return tuple(f"left behind: {left}" for left in after.elsewhere)
    return ("nothing of ours is left",)


def take_platform_down(tools: Tools, cluster: Cluster) -> PlatformSwept:
    """Prove which cluster this is and sweep the platform from it. Idempotent.

    Raises:
        AnotherClusterError: It is not the one that was provisioned; nothing was touched.
        TeardownError: Something of ours is left; each is named with what keeps it.
    """
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        proven = prove_cluster(client, cluster)
        stack = _platform_stack(tools, cluster)
        swept = sweep_platform(proven, state_dir=cluster.state_dir, stack=stack)
    for name in swept.strangers:
        tools.say(f"{name} carries our label, and no record of ours names it: not touched")
    _raise_left(swept.leftovers)
    return swept


def _platform_stack(tools: Tools, cluster: Cluster) -> Stack | None:
    work_dir = cluster.state_dir / WORKING_COPY
    if not work_dir.is_dir():
        return None
    with suppress(HarnessError):  # copied half-way; the inventory does without
        return open_stack(engine=engine_with_provider(tools), cluster=cluster, work_dir=work_dir)
    return None


def _refuse_live_attempts(tools: Tools, cluster: Cluster) -> None:
    living = [
        entry
        for entry in ledger.entries(tools.home)
        if entry.cluster == cluster.name and not entry.abandoned
    ]
    if living:
        pids = sorted({entry.owner.pid for entry in living})
        msg = f"a run works on {cluster.name}: process {', '.join(map(str, pids))}"
        raise ClusterError(msg, hint="wait for its end, or interrupt it, then try again")


def _raise_left(leftovers: tuple[object, ...]) -> None:
    if leftovers:
        hint = "remove what keeps them, then take the cluster down again"
        raise TeardownError(tuple(str(left) for left in leftovers), hint=hint)
