"""What the webhook already knows of every laboratory: kinds that a new run is held against.

Watched over the whole cluster, so that a create need not wait for three lists. News may be late by
a moment, so what is known may let a run through, which the controller then judges again; a refusal
is never given without asking the API server. Refuses to know of kinds that decide on what is true
right now. Started by the webhook's process.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from harness.kube.client import KubeClient
from harness.kube.resources import CAPABILITIES, INSTRUMENTS, LAB_POLICIES, LAB_RUNS
from harness.lab.admission import Request, World, kinds_needed, names_needed
from harness.lab.watching import watch_kind

#: What a new run is held against.
KINDS = (CAPABILITIES, INSTRUMENTS, LAB_POLICIES, LAB_RUNS)

_Object = Mapping[str, Any]


class Known:
    """Objects by kind, namespace and name, fed by a watch each; safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._objects: dict[str, dict[str, dict[str, _Object]]] = {}

    def start(self, client: KubeClient) -> None:
        """Follow every kind from now on, until the process ends."""
        for resource in KINDS:
            follow = partial(
                watch_kind,
                client,
                resource,
                namespace=None,
                cache=self,
                stop=threading.Event(),
                on_break=partial(self.forget, resource.kind),
            )
            threading.Thread(
                target=follow, name=f"watch of all {resource.plural}", daemon=True
            ).start()

    def world(self, request: Request) -> World | None:
        """Return what the decision about a request looks at; None where not all of it is known."""
        kinds = kinds_needed(request)
        with self._lock:
            if not kinds or names_needed(request) or not self._objects.keys() >= set(kinds):
                return None
            return World(
                objects={
                    kind: tuple(self._objects[kind].get(request.namespace, {}).values())
                    for kind in kinds
                }
            )

    def replace(self, kind: str, objects: Iterable[_Object], _version: str) -> None:
        """Take a whole list."""
        found: dict[str, dict[str, _Object]] = {}
        for obj in objects:
            namespace, name = _place(obj)
            found.setdefault(namespace, {})[name] = obj
        with self._lock:
            self._objects[kind] = found

    def apply(self, kind: str, change: str, obj: _Object) -> None:
        """Take one change of a watch: ADDED, MODIFIED or DELETED."""
        namespace, name = _place(obj)
        with self._lock:
            places = self._objects[kind]
            if change != "DELETED":
                places.setdefault(namespace, {})[name] = obj
                return
            places.get(namespace, {}).pop(name, None)
            if not places.get(namespace):
                places.pop(namespace, None)  # namespaces come and go, and are never used twice

    def forget(self, kind: str) -> None:
        """Know nothing of a kind any more: its watch broke."""
        with self._lock:
            self._objects.pop(kind, None)


def _place(obj: _Object) -> tuple[str, str]:
    return str(obj["metadata"]["namespace"]), str(obj["metadata"]["name"])
