"""Take the platform down from a cluster that stays, and prove that nothing else was touched.

Admission goes first, then namespaces with what they hold, then the rest; works without the state,
the webhook and the controller. What is deleted carries our label *and* stands in the inventory by
UID. `teardown` calls it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.bench.inventory import ADMISSION, CLUSTER_SCOPED, read_inventory, resource_of
from harness.cluster.existing.provider import INVENTORY_FILE
from harness.core.naming import PLATFORM_LABEL
from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.errors import HarnessError, KubeError, WaitTimeoutError
from harness.kube.identity_guard import ProvenClient
from harness.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, LAB_GROUP, NAMESPACES, Resource
from harness.kube.sweep import Leftover, list_settled, sweep_namespace
from harness.terraform.manifests import AppliedManifest
from harness.terraform.stack import Stack

#: Seconds until what was deleted must be gone; a definition waits for its objects, under 1 s each.
_GONE_TIMEOUT_S = 30.0

#: Files of a state folder that answer for the platform.
_RECORDS = (INVENTORY_FILE, "platform.json")

#: Folder of the platform stack's working copy in a state folder.
WORKING_COPY = "platform"


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
    client: ProvenClient, *, state_dir: Path, stack: Stack | None, clock: Clock = SYSTEM_CLOCK
) -> PlatformSwept:
    """Remove the platform, then its records. Idempotent; attempts must have been swept before.

    Args:
        client: Of the cluster that was provisioned, proved.
        state_dir: The cluster's folder, with the inventory.
        stack: The platform stack's working copy; None when it is gone.
        clock: Source of time.

    Raises:
        AnotherClusterError: Another cluster answers by now.
    """
    client.prove_again()
    inventory = read_inventory(state_dir)
    kinds = client.discover()
    listed = _of_state(stack) if inventory is None else inventory
    ours = _Ours(client, kinds, listed)
    before = ours.standing()
    trouble: list[Leftover] = []
    for resource in ADMISSION:
        ours.delete(resource)
    for _, manifest in list(ours.standing_of(NAMESPACES)):
        trouble += sweep_namespace(client, manifest.name, kinds=kinds, clock=clock).leftovers
    held = _held_definitions(client, listed)
    if stack is not None and not held and not ours.made_again():
        client.prove_again()
        # Whatever it leaves is found below, by looking.
        with suppress(HarnessError):
            stack.destroy()
    for resource in CLUSTER_SCOPED:
        ours.delete(resource, but=held.keys())
    after = ours.await_gone(but=held.keys(), clock=clock)
    found = _labelled(client, {manifest.uid for manifest in listed})
    leftovers = (
        *trouble,
        *(_leftover(resource, manifest, held) for resource, manifest in after),
        *(() if inventory is not None else (_unrecorded(name) for name in found)),
    )
    if not leftovers:
        _forget(state_dir)
    return PlatformSwept(
        deleted=len(before) - len(after),
        leftovers=leftovers,
        strangers=tuple(found) if inventory is not None else (),
    )


def _of_state(stack: Stack | None) -> tuple[AppliedManifest, ...]:
    """Return what the state answers for, when a kill came between the apply and its record."""
    if stack is None:
        return ()
    with suppress(HarnessError):  # the labels tell what there is, and it is named
        return stack.manifests()
    return ()


class _Ours:
    """The objects of the inventory, as they stand on the cluster now."""

    def __init__(
        self,
        client: ProvenClient,
        kinds: Iterable[Resource],
        inventory: Iterable[AppliedManifest],
    ) -> None:
        self._client = client
        pairs = ((resource_of(manifest, kinds), manifest) for manifest in inventory)
        self._pairs = [(resource, manifest) for resource, manifest in pairs if resource]

    def standing(self) -> list[tuple[Resource, AppliedManifest]]:
        """Return what is there with the UID that our apply gave it."""
        return [pair for pair in self._pairs if self._uid(*pair) == pair[1].uid]

    def standing_of(self, resource: Resource) -> Iterator[tuple[Resource, AppliedManifest]]:
        """Yield those of one kind that carry our label still."""
        for kind, manifest in self._pairs:
            if kind == resource and self._is_ours(kind, manifest):
                yield kind, manifest

    def made_again(self) -> bool:
        """Tell whether somebody else has made an object of a name of ours.

        Terraform deletes by name: it must not run then.
        """
        return any(self._uid(*pair) not in (None, pair[1].uid) for pair in self._pairs)

    def delete(self, resource: Resource, *, but: Iterable[str] = ()) -> None:
        """Ask for the deletion of those of one kind, each by its UID, but of some names."""
        kept = set(but)
        for kind, manifest in list(self.standing_of(resource)):
            if manifest.name not in kept:
                # A refusal is found by the last look, with its blocker.
                with suppress(KubeError):
                    self._client.delete(kind, manifest.name, uid=manifest.uid)

    def await_gone(
        self, *, but: Iterable[str], clock: Clock
    ) -> list[tuple[Resource, AppliedManifest]]:
        """Wait until no more is there than what is kept; return what is there."""
        kept = set(but)
        with suppress(WaitTimeoutError):
            wait_until(
                self.standing,
                lambda left: all(manifest.name in kept for _, manifest in left),
                what="end of the platform",
                timeout_s=_GONE_TIMEOUT_S,
                interval_s=0.2,
                clock=clock,
            )
        return self.standing()

    def _is_ours(self, resource: Resource, manifest: AppliedManifest) -> bool:
        found = self._find(resource, manifest)
        if found is None:
            return False
        metadata = found["metadata"]
        labels = metadata.get("labels") or {}
        return metadata["uid"] == manifest.uid and PLATFORM_LABEL in labels

    def _uid(self, resource: Resource, manifest: AppliedManifest) -> str | None:
        found = self._find(resource, manifest)
        return str(found["metadata"]["uid"]) if found else None

    def _find(self, resource: Resource, manifest: AppliedManifest) -> dict[str, Any] | None:
        return self._client.find(resource, manifest.name, namespace=manifest.namespace or None)


def _held_definitions(
    client: ProvenClient, inventory: Iterable[AppliedManifest]
) -> dict[str, list[str]]:
    """Return the definitions whose deletion would take objects of somebody's with it, and those.

    Our own namespaces are empty by now, so whatever is left belongs to an attempt or a stranger.
    """
    found: dict[str, list[str]] = {}
    for manifest in inventory:
        if manifest.kind != CUSTOM_RESOURCE_DEFINITIONS.kind:
            continue
        for resource in _versions(client, manifest.name):
            for item in list_settled(client, resource):
                metadata = item["metadata"]
                place = f"{metadata.get('namespace', '')}/{metadata['name']}"
                found.setdefault(manifest.name, []).append(place)
    return found


def _versions(client: ProvenClient, name: str) -> Iterator[Resource]:
    definition = client.find(CUSTOM_RESOURCE_DEFINITIONS, name)
    if definition is None or not name.endswith(f".{LAB_GROUP}"):
        return
    spec = definition["spec"]
    stored = next(version["name"] for version in spec["versions"] if version["storage"])
    names = spec["names"]
    yield Resource(group=spec["group"], version=stored, plural=names["plural"], kind=names["kind"])


def _labelled(client: ProvenClient, recorded: set[str]) -> list[str]:
    """Return every object that carries our label and stands in no record. Sorted."""
    found = []
    for resource in client.discover():
        for item in list_settled(client, resource, selector=PLATFORM_LABEL):
            metadata = item["metadata"]
            if metadata["uid"] not in recorded:
                place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
                found.append(f"{resource.qualified} {place}{metadata['name']}")
    return sorted(found)


def _leftover(
    resource: Resource, manifest: AppliedManifest, held: dict[str, list[str]]
) -> Leftover:
    place = f"{manifest.namespace}/" if manifest.namespace else ""
    holds = held.get(manifest.name, [])
    more = f" and {len(holds) - 3} more" if len(holds) > 3 else ""
    return Leftover(
        object=f"{resource.qualified} {place}{manifest.name}",
        blocker=f"it defines objects of somebody's: {', '.join(holds[:3])}{more}"
        if holds
        else "deletion was refused, it has a finalizer, or our label was taken off",
    )


def _unrecorded(name: str) -> Leftover:
    return Leftover(object=name, blocker="carries our label, and no record of ours names it")


def _forget(state_dir: Path) -> None:
    for name in _RECORDS:
        (state_dir / name).unlink(missing_ok=True)
    shutil.rmtree(state_dir / WORKING_COPY, ignore_errors=True)
