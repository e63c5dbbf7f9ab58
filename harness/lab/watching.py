"""One kind kept in a cache: list, watch, and list again when the watch has lost its place."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from harness.errors import KubeError
from harness.kube.client import KubeClient
from harness.kube.resources import Resource

_LOG = logging.getLogger(__name__)

#: Seconds before listing again after a break.
_AGAIN_S = 0.2


class Feed(Protocol):
    """What is kept up to date."""

    def replace(self, kind: str, objects: Iterable[Mapping[str, Any]], version: str, /) -> None:
        """Take a whole list, read at a resource version."""
        ...

    def apply(self, kind: str, change: str, obj: Mapping[str, Any], /) -> None:
        """Take one change of a watch: ADDED, MODIFIED or DELETED."""
        ...


def watch_kind(
    client: KubeClient,
    resource: Resource,
    *,
    namespace: str | None,
    cache: Feed,
    stop: threading.Event,
    on_break: Callable[[], None] = lambda: None,
) -> None:
    """Feed the cache until `stop` is set; breaks are told, logged and mended.

    Args:
        client: Who lists and watches.
        resource: The kind.
        namespace: Where; None for every namespace.
        cache: What is fed.
        stop: Ends it.
        on_break: Called when news may be missed, until the next list.
    """
    said = ""
    while not stop.is_set():
        try:
            _follow(client, resource, namespace, cache, stop)
        except KubeError as error:
            on_break()
            if str(error) != said:
                said = str(error)
                _LOG.warning("%s", said)
            stop.wait(_AGAIN_S)


def _follow(
    client: KubeClient,
    resource: Resource,
    namespace: str | None,
    cache: Feed,
    stop: threading.Event,
) -> None:
    objects, version = client.list_at(resource, namespace=namespace)
    cache.replace(resource.kind, objects, version)
    while not stop.is_set():
        watch = client.watch(resource, namespace=namespace, resource_version=version)
        for change, obj in watch:
            version = str(obj["metadata"]["resourceVersion"])
            if change != "BOOKMARK":
                cache.apply(resource.kind, change, obj)
