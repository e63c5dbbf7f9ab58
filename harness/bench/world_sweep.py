"""Take one attempt's laboratory away: its stack, what is in its namespace, and the namespace.

Knows nothing of processes; those are gone. Called when an attempt ends, and for one that nobody
answers for any more.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from harness.bench.faults import keep_status_writes
from harness.bench.ledger import AttemptEntry
from harness.bench.proof import prove_cluster
from harness.bench.session import Session, find_stack
from harness.errors import AnotherClusterError, HarnessError
from harness.kube.identity_guard import ProvenClient
from harness.kube.resources import NAMESPACES
from harness.kube.sweep import Leftover, Owned, OwnedSweep, Swept, sweep_namespace
from harness.terraform.stack import Stack


def sweep_world(session: Session, entry: AttemptEntry, stack: Stack | None) -> Swept:
    """Remove what an entry answers for from the cluster; its processes are gone. Idempotent.

    Terraform and the emptying of the namespace go side by side: neither needs the other, and each
    finds what the other has deleted to be gone. A destroy that fails is not the end: what is left
    is found by looking.

    Raises:
        AnotherClusterError: Another cluster answers by now; nothing was touched.
    """
    proven = prove_cluster(session.client, session.cluster)
    keep_status_writes(proven, entry.namespace)  # a harness that was killed may have left it
    with ThreadPoolExecutor(1) as pool:
        destroyed = pool.submit(destroy_world, stack, proven, entry)
        swept = sweep_namespace(proven, entry.namespace, kinds=session.kinds)
        trouble = destroyed.result()
    return Swept(deleted=swept.deleted, leftovers=(*swept.leftovers, *trouble))


def sweep_abandoned(session: Session, entry: AttemptEntry) -> Swept:
    """Take an attempt away that nobody answers for, and its record with it. Idempotent.

    What breaks the sweep is a leftover, so that the next attempt has its turn; where anything is
    left, the record stays.

    Raises:
        AnotherClusterError: Another cluster answers by now; nothing was touched.
    """
    try:
        stack = find_stack(engine=session.engine, cluster=session.cluster, work_dir=entry.stack_dir)
        swept = sweep_world(session, entry, stack)
    except AnotherClusterError:
        raise  # of no entry more than of another
    except HarnessError as error:
        left = Leftover(object=f"attempt {entry.attempt_id}", blocker=error.message)
        return Swept(deleted=0, leftovers=(left,))
    if not swept.leftovers:
        entry.remove()
    return swept


def destroy_world(
    stack: Stack | None, client: ProvenClient, entry: AttemptEntry
) -> tuple[Leftover, ...]:
    """Destroy a stack; return what it made outside of the namespace and left there."""
    if stack is None:
        return ()
    try:
        stack.destroy()
    except HarnessError as error:
        why = error.message
    else:
        return ()
    try:
        made = stack.manifests()
        objects_only = len(stack.resources) == len(made)
        # What it made in the namespace goes with it, and is looked for there.
        outside = [Owned(**asdict(one)) for one in made if one.namespace != entry.namespace]
        left = OwnedSweep(client, outside, label=None).leftovers()
    except HarnessError as error:
        return (Leftover(object=f"terraform state of {entry.attempt_id}", blocker=error.message),)
    named = [
        one.object for one in left if one.object != f"{NAMESPACES.qualified} {entry.namespace}"
    ]
    if not objects_only:  # nobody can look for what is no object of a cluster
        named.append(f"terraform state of {entry.attempt_id}")
    return tuple(Leftover(object=one, blocker=f"terraform destroy: {why}") for one in named)
