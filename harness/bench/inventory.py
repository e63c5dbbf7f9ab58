"""What the platform is, object by object: recorded right after its apply, read by its sweep.

Labels can be set by anybody, and a name can be used again; the UIDs that our own apply gave birth
to can neither be chosen nor used twice. Refuses to delete anything. Called beside the apply of the
platform, and by its sweep.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.bench.record import read_record
from harness.cluster.existing.provider import INVENTORY_FILE
from harness.core.files import PRIVATE_MODE, read_json, write_json
from harness.core.naming import PLATFORM_LABEL
from harness.errors import ClusterError, HarnessError
from harness.kube.client import KubeClient
from harness.kube.resources import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CUSTOM_RESOURCE_DEFINITIONS,
    MUTATING_WEBHOOKS,
    NAMESPACES,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    VALIDATING_WEBHOOKS,
    Resource,
)
from harness.kube.sweep import standing_uids
from harness.terraform.manifests import AppliedManifest
from harness.terraform.stack import Stack

#: File with the UIDs of what stood on a cluster before the first apply on it.
STANDING_FILE = "standing.json"

#: Cluster-scoped kinds that a platform is known by.
CLUSTER_SCOPED = (
    MUTATING_WEBHOOKS,
    VALIDATING_WEBHOOKS,
    VALIDATING_POLICY_BINDINGS,
    VALIDATING_POLICIES,
    NAMESPACES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CUSTOM_RESOURCE_DEFINITIONS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What a foundation is, object by object.

    Attributes:
        label: What each of them carries besides; None where the stack is somebody's own and the
            UIDs alone decide.
        objects: Kind, place, name and UID of each.
        adopted: What stood there before our apply took it over; it is never deleted, and Terraform,
            which deletes by name, does not run while there is any.
    """

    label: str | None
    objects: tuple[AppliedManifest, ...] = ()
    adopted: tuple[AppliedManifest, ...] = ()


def apply_recorded(stack: Stack, state_dir: Path) -> None:
    """Apply a foundation, and record what it made, also when it fails half-way.

    Args:
        stack: The copy, ready to be planned.
        state_dir: The cluster's folder; its record says whether the stack is somebody's own.

    Raises:
        TerraformError: The apply's own; that its record failed too is noted on it.
    """
    try:
        stack.apply()
    except BaseException as first:
        try:
            record_inventory(stack, state_dir)
        except (HarnessError, OSError) as second:
            first.add_note(f"what it made is not recorded: {second}")
        raise
    record_inventory(stack, state_dir)


def record_inventory(stack: Stack, state_dir: Path) -> None:
    """Write which objects the state of a foundation answers for. Idempotent."""
    record = read_record(state_dir)
    label = PLATFORM_LABEL if record is None or record.laboratory else None
    inventory = state_inventory(stack, state_dir, label=label)
    write_json(state_dir / INVENTORY_FILE, asdict(inventory), mode=PRIVATE_MODE)


def state_inventory(stack: Stack, state_dir: Path, *, label: str | None) -> Inventory:
    """Return which objects the state of a foundation answers for, told from those it adopted.

    Raises:
        TerraformError: The state cannot be read.
    """
    path = state_dir / STANDING_FILE
    before = frozenset(read_json(path)) if path.is_file() else frozenset()
    found = stack.manifests()
    return Inventory(
        label=label,
        objects=tuple(one for one in found if one.uid not in before),
        adopted=tuple(one for one in found if one.uid in before),
    )


def keep_standing(client: KubeClient, state_dir: Path) -> None:
    """Keep what stands on a cluster before the first apply of a stack that is not ours.

    Terraform adopts an object of the same name, and its state then has a stranger's UID. A second
    call keeps what the first one kept.
    """
    path = state_dir / STANDING_FILE
    if not path.is_file():
        write_json(path, sorted(standing_uids(client)), mode=PRIVATE_MODE)


def read_inventory(state_dir: Path) -> Inventory | None:
    """Return what was recorded; None where nothing was.

    Raises:
        ClusterError: Another version wrote it.
    """
    path = state_dir / INVENTORY_FILE
    if not path.is_file():
        return None
    try:
        record = read_json(path)
        return Inventory(
            label=record["label"],
            objects=tuple(AppliedManifest(**one) for one in record["objects"]),
            adopted=tuple(AppliedManifest(**one) for one in record["adopted"]),
        )
    except (KeyError, TypeError) as error:
        msg = f"{path}: not an inventory of this version's"
        raise ClusterError(
            msg, hint="take the platform down with the version that made it"
        ) from error


def refuse_standing_platform(client: KubeClient, *, policies: Collection[str]) -> None:
    """Do nothing on a cluster where nobody's platform stands; call it before the first apply.

    Terraform adopts an object of the same name, and would take a stranger's down with ours.

    Args:
        client: Of the cluster.
        policies: Names of the admission policies that the platform makes.

    Raises:
        ClusterError: Something of a platform is there; it is named.
    """
    found = [
        f"{resource.qualified} {item['metadata']['name']}"
        for resource in CLUSTER_SCOPED
        for item in client.list_objects(resource)
        if is_platform(resource, item, policies=policies)
    ]
    if found:
        shown = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
        msg = f"a platform that is not ours stands on the cluster: {shown}"
        raise ClusterError(msg, hint="take it down from where it was provisioned")


def is_platform(resource: Resource, item: Mapping[str, Any], *, policies: Collection[str]) -> bool:
    """Tell whether an object has the label of the platform, or a name that it needs. Pure."""
    metadata = item["metadata"]
    name = metadata["name"]
    # Whoever may make a namespace can label it; what else has the label took an administrator.
    if resource is not NAMESPACES and PLATFORM_LABEL in (metadata.get("labels") or {}):
        return True
    if resource is CUSTOM_RESOURCE_DEFINITIONS:
        return bool(name.endswith(".lab.strandline.dev"))
    if resource in (CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS):
        return bool(name.startswith("strandline:"))
    if resource in (VALIDATING_POLICIES, VALIDATING_POLICY_BINDINGS):
        return name in policies
    return name in {"strandline-canary", "strandline-system", "strandline-mutate"} | {
        "strandline-validate"
    }
