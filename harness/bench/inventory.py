"""What the platform is, object by object: recorded right after its apply, read by its sweep.

Labels can be set by anybody, and a name can be used again; the UIDs that our own apply gave birth
to can neither be chosen nor used twice. Refuses to delete anything. Called beside the apply of the
platform, and by its sweep.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.cluster.existing.provider import INVENTORY_FILE
from harness.core.files import PRIVATE_MODE, read_json, write_json
from harness.core.naming import PLATFORM_LABEL
from harness.errors import ClusterError
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
from harness.terraform.manifests import AppliedManifest
from harness.terraform.stack import Stack

#: Admission first: a webhook whose server is gone would refuse the deletion of what it guards.
ADMISSION = (
    MUTATING_WEBHOOKS,
    VALIDATING_WEBHOOKS,
    VALIDATING_POLICY_BINDINGS,
    VALIDATING_POLICIES,
)

#: Cluster-scoped kinds of the platform, in the order in which they are taken down.
CLUSTER_SCOPED = (
    *ADMISSION,
    NAMESPACES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CUSTOM_RESOURCE_DEFINITIONS,
)


def apply_recorded(stack: Stack, state_dir: Path) -> None:
    """Apply the platform stack, and record what it made, also when it fails half-way."""
    plan = stack.plan()
    try:
        stack.apply(plan)
    finally:
        record_inventory(stack, state_dir)


def record_inventory(stack: Stack, state_dir: Path) -> None:
    """Write which objects the state of the platform stack answers for. Idempotent."""
    objects = [asdict(one) for one in stack.manifests()]
    write_json(state_dir / INVENTORY_FILE, {"objects": objects}, mode=PRIVATE_MODE)


def read_inventory(state_dir: Path) -> tuple[AppliedManifest, ...] | None:
    """Return what was recorded; None where nothing was.

    Raises:
        ClusterError: Another version wrote it.
    """
    path = state_dir / INVENTORY_FILE
    if not path.is_file():
        return None
    try:
        return tuple(AppliedManifest(**one) for one in read_json(path)["objects"])
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


def resource_of(manifest: AppliedManifest, kinds: Iterable[Resource]) -> Resource | None:
    """Return the resource of an object; None when the cluster has its kind no more. Pure."""
    wanted = (manifest.api_version, manifest.kind)
    return next((kind for kind in kinds if (kind.api_version, kind.kind) == wanted), None)
