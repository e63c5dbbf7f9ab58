"""One kind kept in the cache: list, watch, and list again when the watch has lost its place."""

from __future__ import annotations

import logging
import threading

from harness.errors import KubeError
from harness.kube.client import KubeClient
from harness.kube.resources import Resource
from harness.lab.cache import Cache

_LOG = logging.getLogger(__name__)

#: Seconds before listing again after a break.
_AGAIN_S = 0.2


def watch_kind(
    client: KubeClient, resource: Resource, *, namespace: str, cache: Cache, stop: threading.Event
) -> None:
    """Feed the cache until `stop` is set; breaks are logged and mended."""
    said = ""
    while not stop.is_set():
        try:
            _follow(client, resource, namespace, cache, stop)
        except KubeError as error:
            if str(error) != said:
                said = str(error)
                _LOG.warning("%s", said)
            stop.wait(_AGAIN_S)


def _follow(
    client: KubeClient, resource: Resource, namespace: str, cache: Cache, stop: threading.Event
) -> None:
    objects, version = client.list_at(resource, namespace=namespace)
    cache.replace(resource.kind, objects, version)
    while not stop.is_set():
        watch = client.watch(resource, namespace=namespace, resource_version=version)
        for change, obj in watch:
            version = str(obj["metadata"]["resourceVersion"])
            if change != "BOOKMARK":
                cache.apply(resource.kind, change, obj)
