"""Objects as an API server keeps them, in memory: versions, UIDs, owners, and who is told.

An object that is stored is never changed, only replaced, so it can be handed out as it is to who
only reads. Refuses to know who may do what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

Obj = dict[str, Any]

#: Told of each change: plural, ADDED, MODIFIED or DELETED, and the object.
Listener = Callable[[str, str, Obj], None]

#: Metadata that the server alone writes.
_SERVERS = ("uid", "resourceVersion", "generation", "creationTimestamp")


class Store:
    """The objects of one namespace, by plural and name."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self._objects: dict[str, dict[str, Obj]] = {}
        self._version = 0
        self._listeners: list[Listener] = []

    @property
    def version(self) -> int:
        """The newest resource version; it rises with every change."""
        return self._version

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell somebody of every change from now on; return what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def copied(self) -> Store:
        """Return another store with the same objects, and nobody listening."""
        other = Store(self.namespace)
        other._version = self._version
        other._objects = {plural: dict(found) for plural, found in self._objects.items()}
        return other

    def find(self, plural: str, name: str) -> Obj | None:
        """Return an object as it is stored, or None."""
        return self._objects.get(plural, {}).get(name)

    def all(self, plural: str) -> list[Obj]:
        """Return every object of a kind as it is stored, sorted by name."""
        found = self._objects.get(plural, {})
        return [found[name] for name in sorted(found)]

    def add(self, plural: str, obj: Mapping[str, Any], now: datetime) -> Obj:
        """Store a new object."""
        self._version += 1
        metadata = {key: value for key, value in obj["metadata"].items() if key not in _SERVERS} | {
            "namespace": self.namespace,
            "uid": f"{self._version:08x}-0000-4000-8000-{self._version:012x}",
            "resourceVersion": str(self._version),
            "generation": 1,
            # An API server keeps whole seconds.
            "creationTimestamp": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        }
        stored = {**obj, "metadata": metadata}
        self._objects.setdefault(plural, {})[metadata["name"]] = stored
        self._tell(plural, "ADDED", stored)
        return stored

    def replace(self, plural: str, obj: Mapping[str, Any]) -> Obj:
        """Store another version of an object; nothing happens where it is the same."""
        old = self._objects[plural][obj["metadata"]["name"]]
        kept = {key: old["metadata"][key] for key in _SERVERS}
        wanted = {**obj, "metadata": {**obj["metadata"], **kept}}
        if wanted == old:
            return old
        self._version += 1
        same_spec = all(
            wanted.get(key) == old.get(key)
            for key in wanted.keys() | old.keys()
            if key not in ("metadata", "status")
        )
        wanted["metadata"] |= {
            "resourceVersion": str(self._version),
            "generation": kept["generation"] + (not same_spec),
        }
        self._objects[plural][wanted["metadata"]["name"]] = wanted
        self._tell(plural, "MODIFIED", wanted)
        return wanted

    def remove(self, plural: str, name: str) -> None:
        """Delete an object, and what it owns."""
        gone = self._objects[plural].pop(name)
        self._version += 1
        told = {**gone, "metadata": {**gone["metadata"], "resourceVersion": str(self._version)}}
        self._tell(plural, "DELETED", told)
        uid = gone["metadata"]["uid"]
        for kind, objects in tuple(self._objects.items()):
            for obj in tuple(objects.values()):
                owners = obj["metadata"].get("ownerReferences", ())
                if any(owner.get("uid") == uid for owner in owners):
                    self.remove(kind, obj["metadata"]["name"])

    def _tell(self, plural: str, change: str, obj: Obj) -> None:
        for listener in tuple(self._listeners):
            listener(plural, change, obj)


def merged(target: Any, patch: Any) -> Any:
    """Return a target with a merge patch applied (RFC 7386); neither is changed. Pure."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result
