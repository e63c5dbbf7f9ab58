"""Take down what a record names, of whatever kinds: by UID, phase by phase, never by name alone.

Labels can be set by anybody, and a name can be used again; a UID is given by the API server once.
It refuses to decide what is ours: the caller brings the record. The platform's sweep calls it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.errors import KubeError, WaitTimeoutError
from harness.kube.identity_guard import ProvenClient
from harness.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, Resource
from harness.kube.sweep.definitions import Definitions
from harness.kube.sweep.leftovers import (
    Leftover,
    Obstacles,
    leftover_of,
    line_of,
    without_ours,
)
from harness.kube.sweep.listing import THREADS, find_obstacles
from harness.kube.sweep.looking import Looking, Owned
from harness.kube.sweep.namespace import ORPHANED, sweep_namespace
from harness.kube.sweep.order import Phase, phase_of, rank_of

#: Seconds that one phase waits for the end of what it deleted; a definition waits for its objects,
#: under 1 s each. What a controller must let go has as long.
_GONE_TIMEOUT_S = 15.0

#: What is said of an object that stands under a name of the record's, which has no UID of it.
_UNRECORDED = "its UID was never recorded, so it may be somebody's"


class OwnedSweep:
    """What a record names, as it stands on the cluster now, and how it is taken down."""

    def __init__(
        self,
        client: ProvenClient,
        owned: Iterable[Owned],
        *,
        label: str | None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """Ask the cluster what it has; nothing is deleted yet.

        Args:
            client: Acts as the harness, on a cluster whose identity was proved.
            owned: What the record names.
            label: What must stand on an object too, beside its UID; None where no label of ours
                was ever set.
            clock: Source of time.
        """
        self._client, self._label, self._clock = client, label, clock
        self.kinds: Sequence[Resource] = client.discover()
        self._definitions = Definitions(client, clock=clock)
        self._looking = Looking(client)
        self._said: dict[str, str] = {}
        self._trouble: dict[str, tuple[Leftover, ...]] = {}
        # By group: a version may be served no more, and the UID is the same in each.
        by_name = {(kind.group, kind.kind): kind for kind in self.kinds}
        self._pairs: list[tuple[Resource, Owned]] = []
        self._unseen: list[Owned] = []
        for one in owned:
            kind = by_name.get((one.api_version.rpartition("/")[0], one.kind))
            if kind is None:
                self._unseen.append(one)  # its kind is gone, or cannot be asked
            else:
                self._pairs.append((kind, one))

    def standing(self) -> list[tuple[Resource, Owned]]:
        """Return what is there with the UID that the record has."""
        return [(kind, one) for kind, one, _ in self._found(self._pairs)]

    def made_again(self) -> bool:
        """Tell whether somebody else's object has a name of the record's.

        Terraform deletes by name: it must not run then.
        """
        found = self._looking.at(self._pairs)
        return any(item and item["metadata"]["uid"] != one.uid for _, one, item in found)

    def take_down(self, phase: Phase) -> None:
        """Take down what goes in a phase, and wait for its end, within a bound. Idempotent.

        Raises:
            AnotherClusterError: Another cluster answers by now.
            HarnessError: It could not be carried on with; the later phases still can.
        """
        self._client.prove_again()
        custom = self._definitions.names()
        mine = [pair for pair in self._pairs if phase_of(pair[0], custom=custom) is phase]
        if phase is Phase.NAMESPACES:
            self._sweep_namespaces(mine)
            return
        if phase in (Phase.CONVERSION, Phase.CLUSTER):
            self._definitions.make_readable(self._ours_of(CUSTOM_RESOURCE_DEFINITIONS))
        held = self.held() if phase is Phase.CLUSTER else {}
        goes = [
            pair
            for pair in mine
            if not (pair[0] == CUSTOM_RESOURCE_DEFINITIONS and pair[1].name in held)
        ]
        for rank in sorted({rank_of(kind) for kind, _ in goes}):
            self._delete([pair for pair in goes if rank_of(pair[0]) == rank])
        with suppress(WaitTimeoutError):  # what is left is named at the end
            wait_until(
                lambda: self._release(goes),
                lambda left: not left,
                what=f"end of phase {phase}",
                timeout_s=_GONE_TIMEOUT_S,
                clock=self._clock,
            )

    def held(self) -> dict[str, str]:
        """Return the definitions whose deletion would take somebody's objects along, and whose.

        Ours are gone by the last phase, so whatever is left is an attempt's or a stranger's.
        """
        return self._definitions.held(self._ours_of(CUSTOM_RESOURCE_DEFINITIONS))

    def leftovers(self) -> tuple[Leftover, ...]:
        """List again, and return what of the record is still there, with what keeps it."""
        obstacles = find_obstacles(self._client)
        held = self.held()
        found = [
            self._leftover(kind, one, item, held=held, obstacles=obstacles)
            for kind, one, item in self._looking.at(self._pairs)
            if item and one.uid in ("", item["metadata"]["uid"])
        ]
        found += [
            Leftover(
                object=f"{one.kind} {one.namespace}/{one.name}".replace(" /", " "), blocker=why
            )
            for one in self._unseen
            if (why := obstacles.dead_apis.get(one.api_version))
        ]
        found += [
            Leftover(object=line, blocker=why) for line, why in self._looking.unreadable.items()
        ]
        stuck = tuple(
            self._stuck({one.name for kind, one in self.standing() if kind == NAMESPACES})
        )
        named = {left.object for left in stuck}
        return (*stuck, *(left for left in found if left.object not in named))

    def _stuck(self, standing: Collection[str]) -> Iterator[Leftover]:
        """Yield what was stuck in namespaces that are there still, and what outlived others."""
        for namespace, leftovers in self._trouble.items():
            for left in leftovers:
                if namespace in standing or left.blocker == ORPHANED:
                    yield left

    def _leftover(
        self,
        kind: Resource,
        one: Owned,
        item: Mapping[str, Any],
        *,
        held: Mapping[str, str],
        obstacles: Obstacles,
    ) -> Leftover:
        line = line_of(kind, item["metadata"])
        if kind == CUSTOM_RESOURCE_DEFINITIONS and one.name in held:
            return Leftover(object=line, blocker=held[one.name])
        if not one.uid:
            return Leftover(object=line, blocker=_UNRECORDED)
        if not self._is_ours(one, item):
            return Leftover(object=line, blocker="our label was taken off")
        return leftover_of(kind, item, said=self._said.get(line, ""), obstacles=obstacles)

    def _sweep_namespaces(self, pairs: Iterable[tuple[Resource, Owned]]) -> None:
        for _, one, _ in self._found(pairs):
            swept = sweep_namespace(
                self._client, one.name, kinds=self.kinds, uid=one.uid, clock=self._clock
            )
            self._trouble[one.name] = swept.leftovers

    def _ours_of(self, kind: Resource) -> list[str]:
        pairs = [pair for pair in self._pairs if pair[0] == kind]
        return [one.name for _, one, item in self._found(pairs) if self._is_ours(one, item)]

    def _is_ours(self, one: Owned, item: Mapping[str, Any]) -> bool:
        labels = item["metadata"].get("labels") or {}
        return item["metadata"]["uid"] == one.uid and (self._label is None or self._label in labels)

    def _delete(self, pairs: Iterable[tuple[Resource, Owned]]) -> None:
        def delete(kind: Resource, one: Owned, item: Mapping[str, Any]) -> None:
            line = line_of(kind, item["metadata"])
            try:
                namespace = one.namespace or None
                self._client.delete(kind, one.name, namespace=namespace, uid=one.uid)
                self._said.pop(line, None)
            except KubeError as error:  # the last look finds it, with these words
                self._said[line] = error.message

        with ThreadPoolExecutor(THREADS) as pool:
            for _ in pool.map(lambda found: delete(*found), self._found(pairs, ours=True)):
                pass

    def _release(self, pairs: Iterable[tuple[Resource, Owned]]) -> list[str]:
        """Take our own finalizers off what is going; return what could still go."""
        left = []
        for kind, one, item in self._found(pairs, ours=True):
            metadata = item["metadata"]
            line = line_of(kind, metadata)
            finalizers = metadata.get("finalizers", ())
            kept = without_ours(finalizers)
            if len(kept) < len(finalizers):
                patch = {"metadata": {"finalizers": kept, "uid": one.uid}}
                with suppress(KubeError):
                    self._client.patch(kind, one.name, patch, namespace=one.namespace or None)
            if line not in self._said:
                left.append(line)
        return left

    def _found(
        self, pairs: Iterable[tuple[Resource, Owned]], *, ours: bool = False
    ) -> list[tuple[Resource, Owned, dict[str, Any]]]:
        """Return those that stand with the record's UID, and with our label if asked for."""
        return [
            (kind, one, item)
            for kind, one, item in self._looking.at(pairs)
            if item
            and item["metadata"]["uid"] == one.uid
            and (not ours or self._is_ours(one, item))
        ]
