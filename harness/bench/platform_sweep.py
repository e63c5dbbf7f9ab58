"""Take the platform down from a cluster that stays, and prove that nothing else was touched.

What is deleted stands in the inventory by UID, and carries our label where we set one; works
without the state, the webhook and the controller. A step that fails keeps none of the later ones
from running. `teardown` calls it.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.bench.inventory import STANDING_FILE, Inventory, read_inventory, state_inventory
from harness.bench.record import RECORD_FILE
from harness.cluster.existing.provider import INVENTORY_FILE
from harness.core.naming import PLATFORM_LABEL
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import AnotherClusterError, HarnessError
from harness.kube.identity_guard import ProvenClient
from harness.kube.sweep import (
    Leftover,
    OnStep,
    Owned,
    OwnedSweep,
    Phase,
    list_cluster,
)
from harness.kube.sweep.leftovers import line_of
from harness.terraform.stack import Stack

#: Files of a state folder that answer for the platform.
_RECORDS = (INVENTORY_FILE, RECORD_FILE, STANDING_FILE)

#: Folder of the platform stack's working copy in a state folder.
WORKING_COPY = "platform"

#: What goes before Terraform may run: the namespaces and all that could keep them.
_FIRST = (
    Phase.ADMISSION,
    Phase.APIS,
    Phase.CONVERSION,
    Phase.CUSTOM,
    Phase.CONTENT,
    Phase.NAMESPACES,
)

#: Names of the steps that are no phase of what the record names.
TERRAFORM_STEP, LOOK_STEP, RECORDS_STEP = "terraform", "look", "records"

#: Every step, in its order.
STEPS = (*_FIRST, TERRAFORM_STEP, Phase.CLUSTER, LOOK_STEP, RECORDS_STEP)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformSwept:
    """What came of it.

    Attributes:
        deleted: How many objects of the inventory are gone now that were there.
        leftovers: What of ours is still there, and what keeps it.
        strangers: Objects that carry our label and stand in no record; none was touched.
    """

    deleted: int
    leftovers: tuple[Leftover, ...]
    strangers: tuple[str, ...]


def sweep_platform(
    client: ProvenClient,
    *,
    state_dir: Path,
    stack: Stack | None,
    known: Sequence[Leftover] = (),
    clock: Clock = SYSTEM_CLOCK,
    on_step: OnStep = lambda _: None,
) -> PlatformSwept:
    """Remove the platform, then its records. Idempotent; attempts must have been swept before.

    Args:
        client: Of the cluster that was provisioned, proved.
        state_dir: The cluster's folder, with the inventory.
        stack: The platform stack's working copy; None when it is gone.
        known: What is known to be left before it begins.
        clock: Source of time.
        on_step: Told the name of each of `STEPS` once it was tried.

    Returns:
        What came of it; an object that our apply adopted is no leftover, for it was there before.

    Raises:
        AnotherClusterError: Another cluster answers by now.
    """
    client.prove_again()
    recorded = read_inventory(state_dir)
    inventory = recorded or _of_state(stack, state_dir)
    sweep = _sweep_of(client, inventory, clock)
    before = len(sweep.standing())
    trouble = list(known)
    for phase in _FIRST:
        with _noting(trouble, phase):
            sweep.take_down(phase)
        on_step(phase)
    if stack is not None:
        trouble += _destroy(client, sweep, stack, by_name=not inventory.adopted)
    on_step(TERRAFORM_STEP)
    with _noting(trouble, Phase.CLUSTER):
        sweep.take_down(Phase.CLUSTER)
    on_step(Phase.CLUSTER)
    found, unlisted = _labelled(client, inventory)
    unrecorded = () if recorded else (*(_unrecorded(name) for name in found), *unlisted)
    leftovers = (*trouble, *sweep.leftovers(), *unrecorded)
    after = len(sweep.standing())
    on_step(LOOK_STEP)
    if not leftovers:
        _forget(state_dir)
    on_step(RECORDS_STEP)
    return PlatformSwept(
        deleted=before - after, leftovers=leftovers, strangers=tuple(found) if recorded else ()
    )


def sweep_admission(
    client: ProvenClient, *, state_dir: Path, stack: Stack | None, clock: Clock = SYSTEM_CLOCK
) -> None:
    """Take our registrations down before anything else: a dead webhook of ours keeps attempts.

    Raises:
        AnotherClusterError: Another cluster answers by now.
    """
    inventory = read_inventory(state_dir) or _of_state(stack, state_dir)
    _sweep_of(client, inventory, clock).take_down(Phase.ADMISSION)


def _sweep_of(client: ProvenClient, inventory: Inventory, clock: Clock) -> OwnedSweep:
    owned = [Owned(**asdict(manifest)) for manifest in inventory.objects]
    return OwnedSweep(client, owned, label=inventory.label, clock=clock)


def _of_state(stack: Stack | None, state_dir: Path) -> Inventory:
    """Return what the state answers for, when a kill came between the apply and its record.

    Whether the stack is one of ours is not recorded then; what it made is known by its UIDs.
    """
    if stack is not None:
        with suppress(HarnessError):  # the labels tell what there is, and it is named
            return state_inventory(stack, state_dir, label=None)
    return Inventory(label=None)


def _destroy(
    client: ProvenClient, sweep: OwnedSweep, stack: Stack, *, by_name: bool
) -> tuple[Leftover, ...]:
    """Let Terraform take down what else it made; return the state where something is left in it.

    Where it would take a stranger's object by its name it only takes what is in no cluster.
    """
    by_name = by_name and not sweep.made_again() and not sweep.held()
    client.prove_again()
    why = "Terraform deletes by name, and would take somebody's object"
    try:
        if by_name:
            stack.destroy()
            return ()
        if stack.elsewhere and _all_known(stack):
            stack.destroy(cluster_gone=True)
            return ()
    except HarnessError as error:
        why = error.message
    # What is an object of the cluster is found by looking; only what is not must be named here.
    with suppress(HarnessError):
        if not stack.elsewhere and _all_known(stack):
            return ()
    return (Leftover(object=f"terraform state of {stack.work_dir}", blocker=why),)


def _all_known(stack: Stack) -> bool:
    """Tell whether all that the state has in a cluster can be looked for there."""
    elsewhere = set(stack.elsewhere)
    return sum(one not in elsewhere for one in stack.resources) == len(stack.manifests())


@contextmanager
def _noting(trouble: list[Leftover], step: str) -> Iterator[None]:
    """Note what kept a step from being done, so that the later ones have their turn."""
    try:
        yield
    except AnotherClusterError:
        raise
    except HarnessError as error:
        trouble.append(Leftover(object=f"step {step} of the sweep", blocker=error.message))


def _labelled(client: ProvenClient, inventory: Inventory) -> tuple[list[str], tuple[Leftover, ...]]:
    """Return what carries our label and stands in no record, and kinds that may have more of it."""
    recorded: Collection[str] = {manifest.uid for manifest in inventory.objects}
    listing = list_cluster(client, selector=PLATFORM_LABEL)
    found = sorted(
        line_of(kind, item["metadata"])
        for kind, item in listing.objects
        if item["metadata"]["uid"] not in recorded
    )
    unlisted = tuple(
        Leftover(object=f"{kind.qualified} that carry our label", blocker=why)
        for kind, why in listing.unlisted
    )
    return found, unlisted


def _unrecorded(name: str) -> Leftover:
    return Leftover(object=name, blocker="carries our label, and no record of ours names it")


def _forget(state_dir: Path) -> None:
    # The copy last: while it is there, nobody takes the cluster for one without a platform.
    for name in _RECORDS:
        (state_dir / name).unlink(missing_ok=True)
    shutil.rmtree(state_dir / WORKING_COPY, ignore_errors=True)
