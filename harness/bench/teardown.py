"""The end of a provisioned cluster; of somebody's own only what we made there ends.

Attempts that nobody alive answers for go first, then the platform, then the records. Called by the
command of that name.
"""

from __future__ import annotations

import shutil
from contextlib import closing, suppress
from pathlib import Path

from harness.bench import ledger
from harness.bench.elsewhere import destroy_elsewhere, provisioned_by
from harness.bench.inventory import apply_recorded
from harness.bench.orphans import sweep_orphans
from harness.bench.platform_sweep import (
    WORKING_COPY,
    PlatformSwept,
    sweep_admission,
    sweep_platform,
)
from harness.bench.proof import prove_cluster
from harness.bench.record import mark_begun, read_record
from harness.bench.session import find_stack
from harness.bench.tools import Tools, engine_with_provider
from harness.cluster.existing.provider import INVENTORY_FILE, PREFIX
from harness.cluster.home import state_dir_of
from harness.cluster.provider import Cluster, ClusterProvider
from harness.core.waiting import wait_until
from harness.errors import (
    ClusterError,
    HarnessError,
    PrerequisiteError,
    TeardownError,
    TerraformError,
    WaitTimeoutError,
)
from harness.kube.client import KubeClient
from harness.kube.sweep import Leftover
from harness.terraform.stack import Stack

#: Seconds for applies that settle a cut-off one: a namespace that it replaces is gone after 5 s,
#: and takes nothing until then.
_SETTLE_TIMEOUT_S, _SETTLE_INTERVAL_S = 20.0, 2.0


def end_cluster(tools: Tools, provider: ClusterProvider) -> tuple[str, ...]:
    """End the provisioned cluster, and say what is left elsewhere, a line each. Idempotent.

    Raises:
        ClusterError: It is somebody's own, and a run that lives works on it.
        TeardownError: Something of ours is left; each is named with what keeps it.
    """
    if provider.keeps_cluster and (cluster := provider.find(tools.home)):
        _refuse_live_attempts(tools, cluster.name)
        _take_admission_down(tools, cluster)
        _raise_left(sweep_orphans(tools, providers=[provider], dry_run=False).leftovers)
        take_platform_down(tools, cluster)
    else:
        for state_dir in provisioned_by(tools.home, provider.name):  # also where it is dead
            destroy_elsewhere(tools, state_dir)
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
        mark_begun(cluster.state_dir)  # a teardown that is cut short leaves half of it
        stack, known = _platform_stack(tools, cluster)
        if stack is not None:
            known = settle(stack, cluster.state_dir)
        swept = sweep_platform(proven, state_dir=cluster.state_dir, stack=stack, known=known)
    for name in swept.strangers:
        tools.say(f"{name} carries our label, and no record of ours names it: not touched")
    _raise_left(swept.leftovers)
    return swept


def settle(stack: Stack, state_dir: Path) -> tuple[Leftover, ...]:
    """Let the stack take over what a killed apply made beside its state; return what is in doubt.

    What was never recorded is applied again, with the files of its beginning: what is there under
    the same names is in the state then. Of our own platform the labels tell what there is.
    """
    try:
        unaccounted = stack.unaccounted
        if unaccounted and not (state_dir / INVENTORY_FILE).is_file():
            stack.init()
            with suppress(WaitTimeoutError):  # what can be made is in the state now
                wait_until(
                    lambda: apply_recorded(stack, state_dir),
                    lambda _: True,
                    what="apply of what a cut-off apply left in doubt",
                    timeout_s=_SETTLE_TIMEOUT_S,
                    interval_s=_SETTLE_INTERVAL_S,
                    tolerate=(TerraformError,),
                )
            unaccounted = stack.unaccounted
        record = read_record(state_dir)
    except TerraformError:
        return ()  # a state that cannot be read is named by the sweep
    if not unaccounted or record is None or record.laboratory:
        return ()
    blocker = (
        f"an apply that was cut off may have made {', '.join(unaccounted)}; provision it again and "
        "take it down, or look for these and remove the folder"
    )
    return (Leftover(object=f"terraform state of {stack.work_dir}", blocker=blocker),)


def _take_admission_down(tools: Tools, cluster: Cluster) -> None:
    """Take our registrations away first, or attempts could not be swept with the webhook dead."""
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        proven = prove_cluster(client, cluster)
        stack, _ = _platform_stack(tools, cluster)
        sweep_admission(proven, state_dir=cluster.state_dir, stack=stack)


def forget_cluster(tools: Tools, provider: ClusterProvider, *, name: str) -> tuple[str, ...]:
    """Forget a cluster that is gone, on its owner's word; return what is given up, a line each.

    Nothing is deleted on any cluster; what a stack made outside of it is destroyed. It is refused
    while anybody can still find the cluster, for then it can be swept, and what the records name
    would be left on it for ever.

    Args:
        tools: What this machine gives.
        provider: Who gave the cluster, with the context that its owner names.
        name: The cluster's name under its provider: its state folder.

    Raises:
        ClusterError: There is no record of it, a run works on it, or it still answers.
        TeardownError: Something outside of it is left; the records stay.
    """
    state_dir = state_dir_of(tools.home, name)
    somebodys = name.startswith(PREFIX) and Path(name).name == name
    if not somebodys or not state_dir.is_dir():
        msg = f"no record of a cluster {name!r} below {tools.home}"
        raise ClusterError(msg, hint="name one of its folder `clusters`")
    _refuse_live_attempts(tools, name)
    if _answers(tools, provider, name):
        msg = f"the cluster {name} still answers, and is the one that was provisioned"
        raise ClusterError(msg, hint="take it down with `strandline teardown`")
    destroy_elsewhere(tools, state_dir)  # its state goes now
    given_up = [
        entry
        for entry in ledger.entries(tools.home)
        if entry.cluster == name and entry.provider == provider.name
    ]
    for entry in given_up:
        entry.remove()
    # The state is secret, so it goes with the rest.
    shutil.rmtree(state_dir)
    ledger.remove_empty(tools.home)
    return (
        f"cluster {name}",
        *(f"attempt {entry.attempt_id} in namespace {entry.namespace}" for entry in given_up),
    )


def _answers(tools: Tools, provider: ClusterProvider, name: str) -> bool:
    """Tell whether the very cluster that was provisioned can be found and asked."""
    try:
        cluster = provider.find(tools.home)
        if cluster is None or cluster.name != name:
            return False
        with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
            prove_cluster(client, cluster)
    except PrerequisiteError:
        raise  # nobody could ask
    except HarnessError:  # not reached, or another one answers in its place
        return False
    return True


def _platform_stack(tools: Tools, cluster: Cluster) -> tuple[Stack | None, tuple[Leftover, ...]]:
    """Return the working copy, and its state as left where it is there and cannot be opened."""
    work_dir = cluster.state_dir / WORKING_COPY
    try:
        engine = engine_with_provider(tools)
        return find_stack(engine=engine, cluster=cluster, work_dir=work_dir), ()
    except HarnessError as error:
        return None, (Leftover(object=f"terraform state of {work_dir}", blocker=error.message),)


def _refuse_live_attempts(tools: Tools, name: str) -> None:
    living = [
        entry
        for entry in ledger.entries(tools.home)
        if entry.cluster == name and not entry.abandoned
    ]
    if living:
        pids = sorted({entry.owner.pid for entry in living})
        msg = f"a run works on {name}: process {', '.join(map(str, pids))}"
        raise ClusterError(msg, hint="wait for its end, or interrupt it, then try again")


def _raise_left(leftovers: tuple[object, ...]) -> None:
    if leftovers:
        hint = "remove what keeps them, then take the cluster down again"
        raise TeardownError(tuple(str(left) for left in leftovers), hint=hint)
