"""Take down a namespace that we made, fast and provably, and name what is left and why.

The namespace controller waits 5 s by design. Here the namespace is deleted first (so that nothing
new gets in), emptied kind by kind, listed again after a margin, and finalized only when empty:
finalizing with content would leave orphans in etcd.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.errors import (
    ConflictError,
    KubeError,
    NotFoundError,
    UnreachableError,
    WaitTimeoutError,
)
from harness.kube.client import KubeClient
from harness.kube.identity_guard import ProvenClient
from harness.kube.resources import NAMESPACES, Resource

#: Threads that list and delete; the time is the API server's, not ours.
_THREADS = 8

#: Seconds between the DELETE and the list that decides. Creates were still accepted up to 45 ms
#: after a DELETE was sent (measured); ten times that.
_MARGIN_S = 0.5

#: HTTP status "storage is (re)initializing" of a kind whose definition is new or just changed.
_STORAGE_IS_MADE = 429

#: Seconds until what is still there counts as stuck.
_EMPTY_TIMEOUT_S = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """Something of ours that could not be removed.

    Attributes:
        object: `kind namespace/name`.
        blocker: What keeps it: finalizers, or the API server's own words.
    """

    object: str
    blocker: str

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.object} ({self.blocker})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep did.

    Attributes:
        deleted: How many objects were there, the namespace among them.
        leftovers: What is still there.
    """

    deleted: int
    leftovers: tuple[Leftover, ...]


def sweep_namespace(
    client: ProvenClient, name: str, *, kinds: Sequence[Resource], clock: Clock = SYSTEM_CLOCK
) -> Swept:
    """Delete a namespace of ours with all that it holds. Idempotent.

    Args:
        client: Acts as the harness, on a cluster whose identity was proved.
        name: A namespace that this harness made; the caller has proved that.
        kinds: Every kind of the cluster, from `KubeClient.discover`.
        clock: Source of time.
    """
    # Events tell of what is being deleted, so they are never waited for: deleted once, at the end.
    namespaced = tuple(kind for kind in kinds if kind.namespaced and kind.plural != "events")
    events = tuple(kind for kind in kinds if kind.namespaced and kind.plural == "events")
    with ThreadPoolExecutor(_THREADS) as pool:
        if client.find(NAMESPACES, name) is None:
            return Swept(deleted=0, leftovers=_orphans(client, name, namespaced, pool))
        client.delete(NAMESPACES, name)
        deleted_at_s = clock.monotonic_s()
        before = _content(client, name, namespaced, pool)
        _delete_all(client, name, {kind for kind, _ in before}, pool)

        def left() -> list[tuple[Resource, dict[str, Any]]]:
            found = _content(client, name, namespaced, pool)
            _delete_all(client, name, {kind for kind, _ in found}, pool)
            return found

        def decided(found: list[tuple[Resource, dict[str, Any]]]) -> bool:
            return not found and clock.monotonic_s() - deleted_at_s >= _MARGIN_S

        try:
            wait_until(
                left,
                decided,
                what=f"empty namespace {name}",
                timeout_s=_EMPTY_TIMEOUT_S,
                clock=clock,
            )
        except WaitTimeoutError:
            stuck = [_leftover(kind, item) for kind, item in left()]
            return Swept(deleted=len(before) - len(stuck), leftovers=tuple(stuck))
        _delete_all(client, name, events, pool)
        _finalize(client, name)
        gone = _gone(client, name, clock)
        orphans = _orphans(client, name, namespaced, pool)
    return Swept(deleted=len(before) + 1, leftovers=(*gone, *orphans))


def _content(
    client: KubeClient, namespace: str, kinds: Iterable[Resource], pool: ThreadPoolExecutor
) -> list[tuple[Resource, dict[str, Any]]]:
    def objects(kind: Resource) -> list[tuple[Resource, dict[str, Any]]]:
        return [(kind, item) for item in list_settled(client, kind, namespace=namespace)]

    return [found for part in pool.map(objects, kinds) for found in part]


def list_settled(
    client: KubeClient, kind: Resource, *, namespace: str | None = None, selector: str | None = None
) -> list[dict[str, Any]]:
    """Return the objects of a kind, none where it is gone, once the storage of a new one is made.

    Raises:
        KubeError: It cannot be listed.
        WaitTimeoutError: Its storage was never ready.
    """

    def listed() -> list[dict[str, Any]] | None:
        try:
            return client.list_objects(kind, namespace=namespace, selector=selector)
        except NotFoundError:  # it went away since discovery
            return []
        except KubeError as error:
            if error.status != _STORAGE_IS_MADE:
                raise
            return None

    found = wait_until(
        listed,
        lambda seen: seen is not None,
        what=f"list of {kind.qualified}",
        timeout_s=_EMPTY_TIMEOUT_S,
    )
    return found or []


def _delete_all(
    client: KubeClient, namespace: str, kinds: Iterable[Resource], pool: ThreadPoolExecutor
) -> None:
    def delete(kind: Resource) -> None:
        body = {"propagationPolicy": "Background"}
        # Neither a refusal nor a call that times out is raised here: what stays is found
        # by the next list, with its blocker.
        with suppress(UnreachableError):
            client.ask("DELETE", kind.path(namespace), body=body)

    for _ in pool.map(delete, kinds):
        pass


def _finalize(client: KubeClient, name: str) -> None:
    namespace = client.find(NAMESPACES, name)
    if namespace is None:
        return
    namespace["spec"] = {"finalizers": []}
    try:
        client.call("PUT", NAMESPACES.path(name=name, subresource="finalize"), body=namespace)
    except (NotFoundError, ConflictError):
        return  # the namespace controller was faster


def _gone(client: KubeClient, name: str, clock: Clock) -> tuple[Leftover, ...]:
    try:
        wait_until(
            lambda: client.find(NAMESPACES, name),
            lambda found: found is None,
            what=f"end of namespace {name}",
            timeout_s=_EMPTY_TIMEOUT_S,
            clock=clock,
        )
    except WaitTimeoutError:
        namespace = client.find(NAMESPACES, name)
        return (_leftover(NAMESPACES, namespace),) if namespace else ()
    return ()


def _orphans(
    client: KubeClient, namespace: str, kinds: Iterable[Resource], pool: ThreadPoolExecutor
) -> tuple[Leftover, ...]:
    """Return objects of a namespace that is gone: finalizing with content leaves such."""
    return tuple(
        Leftover(object=_leftover(kind, item).object, blocker="its namespace is gone")
        for kind, item in _content(client, namespace, kinds, pool)
    )


def _leftover(kind: Resource, item: dict[str, Any]) -> Leftover:
    metadata = item["metadata"]
    where = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    finalizers = [*metadata.get("finalizers", ()), *item.get("spec", {}).get("finalizers", ())]
    conditions = item.get("status", {}).get("conditions") or ()
    reasons = [
        condition["message"]
        for condition in conditions
        if kind is NAMESPACES and condition.get("status") == "True"
    ]
    blockers = [f"finalizer {name}" for name in finalizers] + reasons
    return Leftover(
        object=f"{kind.qualified} {where}{metadata['name']}",
        blocker=", ".join(blockers) or "deletion was refused",
    )


def labelled_namespaces(client: KubeClient, label: str) -> list[dict[str, Any]]:
    """Return the namespaces that carry a label, whatever its value."""
    try:
        return client.list_objects(NAMESPACES, selector=label)
    except KubeError as error:
        error.hint = error.hint or "check that the cluster is running"
        raise
