"""The content of one namespace of ours on its way out, and what the API server refused.

Deleted by kind and again by what is found, until a list after a margin finds nothing; it all goes
by the namespace's name, so it ends once another namespace has that. `namespace` calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from harness.core.waiting import Clock, wait_until
from harness.errors import KubeError, NotFoundError, WaitTimeoutError
from harness.kube.client import KubeClient
from harness.kube.identity_guard import ProvenClient
from harness.kube.resources import NAMESPACES, Resource
from harness.kube.sweep.leftovers import Leftover, leftover_of, line_of, without_ours
from harness.kube.sweep.listing import Listing, dead_apis, find_obstacles, list_kinds

#: Seconds between the DELETE and the list that decides. Creates were still accepted up to 45 ms
#: after a DELETE was sent (measured); ten times that.
_MARGIN_S = 0.5

#: Seconds until what is still there counts as stuck.
EMPTY_TIMEOUT_S = 15.0


class Emptying:
    """One namespace that is being emptied, and what the API server refused on the way.

    Its content is deleted by its name, so nothing is deleted once another one has the name.
    """

    def __init__(
        self,
        client: ProvenClient,
        namespace: Mapping[str, Any],
        kinds: Sequence[Resource],
        pool: ThreadPoolExecutor,
        clock: Clock,
    ) -> None:
        self._client = client
        self._name = str(namespace["metadata"]["name"])
        self._uid = str(namespace["metadata"]["uid"])
        self.kinds: Sequence[Resource] = kinds
        self._pool, self._clock = pool, clock
        self._said: dict[str, str] = {}
        self._deleted_at_s = 0.0
        self._active: tuple[Resource, ...] = ()
        self.found = 0
        self.unlisted: tuple[tuple[Resource, str], ...] = ()

    def stands(self) -> bool:
        """Tell whether the name is still that of the very namespace that is meant."""
        return find_same(self._client, self._name, self._uid) is not None

    def begin(self) -> tuple[Leftover, ...]:
        """Close the namespace and empty it once; return it where that was refused."""
        refused = ""
        try:
            self._client.delete(NAMESPACES, self._name, uid=self._uid)
        except KubeError as error:
            refused = error.message
        self._deleted_at_s = self._clock.monotonic_s()
        if not self.stands():
            return ()
        before = self._list(self.kinds)
        self.kinds = before.kinds
        self.found = len(before.objects)
        self._delete(before)
        if not refused or not self.stands():
            return ()
        metadata = {"metadata": {"name": self._name}}
        obstacles = find_obstacles(self._client)
        return (leftover_of(NAMESPACES, metadata, said=refused, obstacles=obstacles),)

    def finish(self) -> tuple[Leftover, ...]:
        """Empty it until a list after the margin finds nothing; return what is stuck."""
        try:
            wait_until(
                self._left,
                lambda found: found is not None and not found.objects,
                what=f"empty namespace {self._name}",
                timeout_s=EMPTY_TIMEOUT_S,
                clock=self._clock,
            )
        except WaitTimeoutError:
            stuck = self._list(self.kinds)
            self._delete(stuck)
            obstacles = find_obstacles(self._client)
            return (
                *(
                    leftover_of(kind, item, said=self._refusal(kind, item), obstacles=obstacles)
                    for kind, item in stuck.objects
                ),
                *unseen(self._client, self._name, stuck.unlisted),
            )
        return ()

    def delete_all(self, kind: Resource) -> None:
        """Delete every object of a kind; what stays is found by the next list."""
        body = {"propagationPolicy": "Background"}
        try:
            self._client.call("DELETE", kind.path(self._name), body=body)
        except KubeError as error:
            self._said[kind.qualified] = error.message
        else:
            self._said.pop(kind.qualified, None)

    def _left(self) -> Listing | None:
        """Return what is there, None while only a part was looked at; delete it again."""
        in_time = self._clock.monotonic_s() - self._deleted_at_s >= _MARGIN_S
        if not self.stands():
            return Listing() if in_time else None
        found = self._list(self._active) if self._active else Listing()
        if not found.objects and not in_time:
            return None
        if not found.objects:
            found = self._list(self.kinds)
            self.unlisted = found.unlisted
        self._delete(found)
        return found

    def _list(self, kinds: Iterable[Resource]) -> Listing:
        return list_kinds(self._client, kinds, self._pool, namespace=self._name, clock=self._clock)

    def _delete(self, found: Listing) -> None:
        self._active = found.found
        for _ in self._pool.map(self.delete_all, found.found):
            pass
        for _ in self._pool.map(lambda pair: self._release(*pair), found.objects):
            pass

    def _release(self, kind: Resource, item: dict[str, Any]) -> None:
        """Take our own finalizers off an object of ours; a stranger's stay."""
        finalizers = item["metadata"].get("finalizers", ())
        kept = without_ours(finalizers)
        if len(kept) == len(finalizers):
            return
        metadata = {"finalizers": kept, "uid": item["metadata"]["uid"]}
        name = item["metadata"]["name"]
        try:
            self._client.patch(kind, name, {"metadata": metadata}, namespace=self._name)
        except NotFoundError:
            return
        except KubeError as error:
            self._said[line_of(kind, item["metadata"])] = error.message

    def _refusal(self, kind: Resource, item: dict[str, Any]) -> str:
        own = self._said.get(line_of(kind, item["metadata"]))
        return own or self._said.get(kind.qualified, "")


def unseen(
    client: KubeClient, name: str, unlisted: Iterable[tuple[Resource, str]]
) -> tuple[Leftover, ...]:
    """Return the namespace as left, once for each API that may hold content and cannot be asked."""
    dead = dead_apis(client)
    reasons = [*dead.values()]
    reasons += [
        f"{kind.qualified} cannot be listed: {why}"
        for kind, why in unlisted
        if kind.api_version not in dead
    ]
    return tuple(Leftover(object=f"namespaces {name}", blocker=why) for why in reasons)


def find_same(client: KubeClient, name: str, uid: str) -> dict[str, Any] | None:
    """Return the very namespace that is meant; None once it is gone, and when it was made again."""
    found = client.find(NAMESPACES, name)
    return found if found and found["metadata"]["uid"] == uid else None
