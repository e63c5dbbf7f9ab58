"""Take down a namespace that we made, fast and provably, and name what is left and why.

The namespace controller waits 5 s by design. Here the namespace is deleted first (so that nothing
new gets in), emptied kind by kind, listed again after a margin, and finalized only when empty:
finalizing with content would leave orphans in etcd. An API that does not answer may have content,
so it keeps the namespace, and is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.errors import ConflictError, NotFoundError, WaitTimeoutError
from harness.kube.client import KubeClient
from harness.kube.identity_guard import ProvenClient
from harness.kube.resources import NAMESPACES, Resource
from harness.kube.sweep.emptying import EMPTY_TIMEOUT_S, Emptying, find_same, unseen
from harness.kube.sweep.leftovers import (
    Leftover,
    OnStep,
    Swept,
    leftover_of,
    line_of,
    without_ours,
)
from harness.kube.sweep.listing import THREADS, list_kinds

#: What is said of an object whose namespace was finalized with content.
ORPHANED = "its namespace is gone"

#: Finalizer that every namespace has, and that its controller takes off.
_KUBERNETES = "kubernetes"


def sweep_namespace(
    client: ProvenClient,
    name: str,
    *,
    kinds: Sequence[Resource],
    uid: str | None = None,
    clock: Clock = SYSTEM_CLOCK,
    on_step: OnStep = lambda _: None,
) -> Swept:
    """Delete a namespace of ours with all that it holds. Idempotent.

    Args:
        client: Acts as the harness, on a cluster whose identity was proved.
        name: A namespace that this harness made; the caller has proved that.
        kinds: Every kind of the cluster, from `KubeClient.discover`.
        uid: Of the very namespace that is meant; one that was made again stays.
        clock: Source of time.
        on_step: Told `deleted`, `emptied`, `finalized`, `gone`.
    """
    # Events tell of what is being deleted, so they are never waited for: deleted once, at the end.
    namespaced = tuple(kind for kind in kinds if kind.namespaced and kind.plural != "events")
    events = tuple(kind for kind in kinds if kind.namespaced and kind.plural == "events")
    with ThreadPoolExecutor(THREADS) as pool:
        found = client.find(NAMESPACES, name)
        if found is None or (uid and found["metadata"]["uid"] != uid):
            return Swept(deleted=0, leftovers=_orphans(client, name, namespaced, pool))
        uid = str(found["metadata"]["uid"])
        emptying = Emptying(client, found, namespaced, pool, clock)
        if refused := emptying.begin():
            return Swept(deleted=0, leftovers=refused)
        on_step("deleted")
        if left := emptying.finish():
            return Swept(deleted=emptying.found - len(left), leftovers=left)
        on_step("emptied")
        if emptying.stands():
            for kind in events:
                emptying.delete_all(kind)
            if kept := unseen(client, name, emptying.unlisted):
                return Swept(deleted=emptying.found, leftovers=kept)
        _finalize(client, name, uid)
        on_step("finalized")
        gone = _gone(client, name, uid, clock)
        orphans = _orphans(client, name, emptying.kinds, pool)
        on_step("gone")
    return Swept(deleted=emptying.found + 1, leftovers=(*gone, *orphans))


def _finalize(client: KubeClient, name: str, uid: str) -> None:
    namespace = find_same(client, name, uid)
    if namespace is None:
        return
    finalizers = namespace["spec"].get("finalizers", ())
    kept = [one for one in without_ours(finalizers) if one != _KUBERNETES]
    namespace["spec"] = {"finalizers": kept}
    try:
        client.call("PUT", NAMESPACES.path(name=name, subresource="finalize"), body=namespace)
    except (NotFoundError, ConflictError):
        return  # the namespace controller was faster


def _gone(client: KubeClient, name: str, uid: str, clock: Clock) -> tuple[Leftover, ...]:
    def left() -> dict[str, Any] | None:
        found = find_same(client, name, uid)
        finalizers = found["metadata"].get("finalizers", ()) if found else ()
        kept = without_ours(finalizers)
        if len(kept) < len(finalizers):
            client.patch(NAMESPACES, name, {"metadata": {"finalizers": kept, "uid": uid}})
        return found

    try:
        wait_until(
            left,
            lambda found: found is None,
            what=f"end of namespace {name}",
            timeout_s=EMPTY_TIMEOUT_S,
            tolerate=(NotFoundError, ConflictError),
            clock=clock,
        )
    except WaitTimeoutError:
        namespace = find_same(client, name, uid)
        return (leftover_of(NAMESPACES, namespace),) if namespace else ()
    return ()


def _orphans(
    client: KubeClient, namespace: str, kinds: Iterable[Resource], pool: ThreadPoolExecutor
) -> tuple[Leftover, ...]:
    """Return objects of a namespace that is gone: finalizing with content leaves such."""
    if client.find(NAMESPACES, namespace) is not None:
        return ()  # it is there still, or somebody made another one, with content of their own
    return tuple(
        Leftover(object=line_of(kind, item["metadata"]), blocker=ORPHANED)
        for kind, item in list_kinds(client, kinds, pool, namespace=namespace).objects
    )
