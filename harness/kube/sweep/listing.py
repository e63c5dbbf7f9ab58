"""What is there: lists that wait for a new kind, and say of a kind that cannot be listed why.

A dead conversion webhook keeps a kind from being listed in one version and not in another, and a
dead aggregated API in none. It deletes nothing. Called by the sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.errors import HarnessError, KubeError, NotFoundError
from harness.kube.client import KubeClient
from harness.kube.resources import (
    API_SERVICES,
    CUSTOM_RESOURCE_DEFINITIONS,
    MUTATING_WEBHOOKS,
    NAMESPACES,
    VALIDATING_WEBHOOKS,
    Resource,
)
from harness.kube.sweep.leftovers import Obstacles, line_of

#: Threads that look and delete; the time is the API server's, not ours.
THREADS = 8

#: HTTP status "storage is (re)initializing" of a kind whose definition is new or just changed.
_STORAGE_IS_MADE = 429

#: Seconds until the storage of a new kind is ready: some tenths were measured. A kind whose
#: objects cannot be read answers so for ever.
_STORAGE_TIMEOUT_S = 5.0

T = TypeVar("T")

#: What the API server says of objects that only a dead webhook could read.
_UNREADABLE = ("conversion webhook", "storage is (re)initializing")

#: Condition of an aggregated API.
_AVAILABLE = "Available"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The objects of several kinds.

    Attributes:
        objects: Each with the kind, in the version in which it can be read.
        unlisted: Kinds that could not be listed, each with the reason.
        kinds: Every kind that was asked for, in the version that answered: the API server takes
            seconds to say that another one cannot be read.
    """

    objects: tuple[tuple[Resource, dict[str, Any]], ...] = ()
    unlisted: tuple[tuple[Resource, str], ...] = ()
    kinds: tuple[Resource, ...] = ()

    @property
    def found(self) -> tuple[Resource, ...]:
        """The kinds of the objects, each once."""
        return tuple(dict.fromkeys(kind for kind, _ in self.objects))


def list_settled(
    client: KubeClient,
    kind: Resource,
    *,
    namespace: str | None = None,
    selector: str | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> list[dict[str, Any]]:
    """Return the objects of a kind, none where it is gone, once the storage of a new one is made.

    Raises:
        KubeError: It cannot be listed.
        WaitTimeoutError: Its storage was never ready.
    """

    def listed() -> list[dict[str, Any]] | str:
        try:
            return client.list_objects(kind, namespace=namespace, selector=selector)
        except NotFoundError:  # it went away since discovery
            return []
        except KubeError as error:
            if error.status != _STORAGE_IS_MADE:
                raise
            return error.message

    found = wait_until(
        listed,
        lambda seen: not isinstance(seen, str),
        what=f"list of {kind.qualified}",
        timeout_s=_STORAGE_TIMEOUT_S,
        clock=clock,
    )
    return [] if isinstance(found, str) else found


def list_readable(
    client: KubeClient,
    kind: Resource,
    *,
    namespace: str | None = None,
    selector: str | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> tuple[Resource, list[dict[str, Any]]]:
    """Return the objects of a kind, in another version where its own cannot be read.

    Raises:
        HarnessError: It cannot be listed in any.
    """
    try:
        return _readable(
            client,
            kind,
            lambda one: client.list_objects(one, namespace=namespace, selector=selector),
        )
    except NotFoundError:
        return kind, []
    except KubeError as error:
        if error.status != _STORAGE_IS_MADE:
            raise
    found = list_settled(client, kind, namespace=namespace, selector=selector, clock=clock)
    return kind, found


def find_readable(
    client: KubeClient, kind: Resource, name: str, *, namespace: str | None = None
) -> tuple[Resource, dict[str, Any] | None]:
    """Return one object or None, in another version where its own cannot be read.

    Raises:
        KubeError: It can be read in none.
    """
    return _readable(client, kind, lambda one: client.find(one, name, namespace=namespace))


def _readable(
    client: KubeClient, kind: Resource, read: Callable[[Resource], T]
) -> tuple[Resource, T]:
    """Return what is read, with the version in which it could be.

    Objects that only a dead conversion webhook could give in one version are there to be read in
    the one in which they were written.

    Raises:
        KubeError: Of the version that was asked for.
    """
    try:
        return kind, read(kind)
    except KubeError as error:
        if not any(text in error.message for text in _UNREADABLE):
            raise
        definition = client.find(CUSTOM_RESOURCE_DEFINITIONS, kind.qualified)
        if definition is None:
            raise
        for version in definition["spec"]["versions"]:
            if version["served"] and version["name"] != kind.version:
                other = replace(kind, version=version["name"])
                with suppress(KubeError):
                    return other, read(other)
        raise


def list_kinds(
    client: KubeClient,
    kinds: Iterable[Resource],
    pool: ThreadPoolExecutor,
    *,
    namespace: str | None = None,
    selector: str | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Listing:
    """Return the objects of many kinds; one that cannot be listed stops none of the others."""

    def one(kind: Resource) -> Listing:
        try:
            readable, found = list_readable(
                client, kind, namespace=namespace, selector=selector, clock=clock
            )
        except HarnessError as error:
            return Listing(unlisted=((kind, error.message),), kinds=(kind,))
        return Listing(objects=tuple((readable, item) for item in found), kinds=(readable,))

    parts = list(pool.map(one, kinds))
    return Listing(
        objects=tuple(found for part in parts for found in part.objects),
        unlisted=tuple(found for part in parts for found in part.unlisted),
        kinds=tuple(kind for part in parts for kind in part.kinds),
    )


def dead_apis(client: KubeClient) -> dict[str, str]:
    """Return the aggregated APIs that do not answer: `group/version` to APIService and reason."""
    try:
        services = client.list_objects(API_SERVICES)
    except NotFoundError:  # an API server without an aggregator has none
        return {}
    found = {}
    for service in services:
        spec = service["spec"]
        for condition in (service.get("status") or {}).get("conditions") or ():
            if condition["type"] == _AVAILABLE and condition["status"] != "True":
                why = condition.get("message") or condition.get("reason") or "it does not answer"
                name = line_of(API_SERVICES, service["metadata"])
                found[f"{spec['group']}/{spec['version']}"] = f"{name} is unavailable: {why}"
    return found


def find_obstacles(client: KubeClient) -> Obstacles:
    """Return what can keep an object from going; what cannot be read is left out."""
    return Obstacles(
        dead_apis=dead_apis(client),
        webhooks={
            webhook["name"]: line_of(kind, item["metadata"])
            for kind in (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS)
            for item in client.list_objects(kind)
            for webhook in item.get("webhooks") or ()
        },
    )


def labelled_namespaces(client: KubeClient, label: str) -> list[dict[str, Any]]:
    """Return the namespaces that carry a label, whatever its value."""
    try:
        return client.list_objects(NAMESPACES, selector=label)
    except KubeError as error:
        error.hint = error.hint or "check that the cluster is running"
        raise


def list_cluster(client: KubeClient, *, selector: str | None = None) -> Listing:
    """Return the objects of every kind that a cluster has."""
    with ThreadPoolExecutor(THREADS) as pool:
        return list_kinds(client, client.discover(), pool, selector=selector)


def standing_uids(client: KubeClient) -> frozenset[str]:
    """Return the UID of every object of the cluster.

    Raises:
        KubeError: A kind cannot be listed, so nobody could tell later what of it stood there.
    """
    found = list_cluster(client)
    for kind, why in found.unlisted:
        msg = f"{kind.qualified} cannot be listed, so what stands there is not known: {why}"
        raise KubeError(msg, hint="repair that kind, or delete its definition, before the apply")
    return frozenset(str(item["metadata"]["uid"]) for _, item in found.objects)
