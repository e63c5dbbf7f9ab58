"""What stands on a cluster that is not ours: one digest an object, compared before and after.

It reads and never writes. Leases, Events and Nodes are left out, as are status, managed fields
and versions: they move by themselves. So are the canary's probes, which come and go.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from harness.core.files import canonical_json, sha256_hex
from harness.core.naming import CANARY_NAMESPACE, RUN_LABEL
from harness.core.waiting import wait_until
from harness.errors import KubeError, NotFoundError
from harness.kube.client import KubeClient
from harness.kube.resources import NAMESPACES, SECRETS, Resource

#: Field manager of what a probe writes; its marker follows. It travels in the URL, so that the
#: audit log tells a probe even where the body was never read, and it stays on what was made.
PROBE_MANAGER = "strandline-probe-"

#: Kinds that change without anybody's doing.
_MOVING = frozenset({"leases", "events", "nodes"})

#: Parts of metadata that change when nothing of the object does.
_VOLATILE = frozenset({"managedFields", "resourceVersion", "generation", "selfLink"})

#: Longest wait for one list, in seconds. The storage of a kind whose definition is new answers
#: with 429 "storage is (re)initializing" for some tenths of a second.
LIST_TIMEOUT_S = 10.0

#: Lists at once; the API server has two cores, and the client 32 connections.
_THREADS = 8


def fingerprint(client: KubeClient, run_id: str) -> dict[str, str]:
    """Return a digest of every object that does not belong to a run.

    What lives in a namespace that carries the run's label belongs to it too, and so does what the
    API server keeps for that: an IPAddress, which lives in none, for each Service.

    Returns:
        `plural.group namespace/name` to `UID SHA-256`, sorted.

    Raises:
        WaitTimeoutError: A kind could not be listed.
    """
    resources = [one for one in client.discover() if one.plural not in _MOVING]

    def objects_of(resource: Resource) -> list[tuple[Resource, dict[str, Any]]]:
        found = wait_until(
            lambda: _list(client, resource),
            lambda _: True,
            what=f"list of {resource.qualified}",
            timeout_s=LIST_TIMEOUT_S,
            tolerate=(KubeError,),
        )
        return [(resource, one) for one in found]

    # Before and after: attempts of the same run may make and remove theirs meanwhile.
    namespaces = objects_of(NAMESPACES)
    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        listed = [found for some in pool.map(objects_of, resources) for found in some]
    namespaces += objects_of(NAMESPACES)
    ours = {found["metadata"]["name"] for _, found in namespaces if _label(found) == run_id}
    return {
        key_of(resource, found): f"{found['metadata']['uid']} {digest_of(resource, found)}"
        for resource, found in sorted(listed, key=lambda item: key_of(*item))
        if _label(found) != run_id and _place(found) not in ours and not is_probe(found)
    }


def _list(client: KubeClient, resource: Resource) -> list[dict[str, Any]]:
    try:
        return client.list_objects(resource)
    except NotFoundError:  # its definition went between discovery and here
        return []


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return one line for each object that differs: what happened to it. Sorted, pure."""
    lines = []
    for key in sorted(before.keys() | after.keys()):
        was, now = before.get(key), after.get(key)
        if was == now:
            continue
        if now is None:
            lines.append(f"{key}: deleted")
        elif was is None:
            lines.append(f"{key}: added")
        elif was.split()[0] != now.split()[0]:
            lines.append(f"{key}: deleted and made again")
        else:
            lines.append(f"{key}: changed")
    return tuple(lines)


def key_of(resource: Resource, found: Mapping[str, Any]) -> str:
    """Return `plural.group namespace/name`, or without namespace where there is none. Pure."""
    metadata = found["metadata"]
    namespace = metadata.get("namespace")
    name = f"{namespace}/{metadata['name']}" if namespace else metadata["name"]
    return f"{resource.qualified} {name}"


def digest_of(resource: Resource, found: Mapping[str, Any]) -> str:
    """Return a digest of what somebody wrote into an object. Pure."""
    metadata = {key: value for key, value in found["metadata"].items() if key not in _VOLATILE}
    kept = {key: value for key, value in found.items() if key not in ("metadata", "status")}
    if resource == SECRETS:
        # A digest of a short secret can be guessed back. Every write raises the version instead.
        kept = {"version": found["metadata"]["resourceVersion"]}
    return sha256_hex(canonical_json({"metadata": metadata, **kept}))


def is_probe(found: Mapping[str, Any]) -> bool:
    """Return whether a probe of the canary made an object. Pure."""
    metadata = found["metadata"]
    managers = (field.get("manager", "") for field in metadata.get("managedFields", ()))
    return metadata.get("namespace") == CANARY_NAMESPACE and any(
        manager.startswith(PROBE_MANAGER) for manager in managers
    )


def _place(found: Mapping[str, Any]) -> str | None:
    """Return the namespace that an object lives in, or that its parent does."""
    namespace: str | None = found["metadata"].get("namespace")
    spec = found.get("spec")
    parent = spec.get("parentRef") if isinstance(spec, dict) else None
    if namespace is None and isinstance(parent, dict):
        return parent.get("namespace")
    return namespace


def _label(found: Mapping[str, Any]) -> str | None:
    label = found["metadata"].get("labels", {}).get(RUN_LABEL)
    return None if label is None else str(label)
