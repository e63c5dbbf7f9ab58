"""What the controller last saw of its namespace, fed by watches and by its own writes.

One lock, one condition. Older news never overwrites newer: an object that this process wrote is
known at once, before the watch tells of it. Knows nothing of what the objects mean.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from harness.model.lab import (
    Approval,
    Attestation,
    Capability,
    Instrument,
    LabPolicy,
    LabRun,
    LabTask,
)

_LOG = logging.getLogger(__name__)

ViewT = TypeVar("ViewT", bound=BaseModel)

_VIEWS: Mapping[str, type[BaseModel]] = {
    "Approval": Approval,
    "Attestation": Attestation,
    "Capability": Capability,
    "Instrument": Instrument,
    "LabPolicy": LabPolicy,
    "LabRun": LabRun,
    "LabTask": LabTask,
}

#: Kinds of which the names are all that is kept: there may be many, and nobody looks inside.
_NAMED = ("LabEvent", "Note")


class Cache:
    """Objects by kind and name."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._version = 0
        self._views: dict[str, dict[str, BaseModel]] = {kind: {} for kind in _VIEWS}
        self._names: dict[str, set[str]] = {kind: set() for kind in _NAMED}
        self._seen: dict[tuple[str, str], int] = {}
        self._listed: set[str] = set()

    @property
    def version(self) -> int:
        """A number that rises with every change."""
        with self._changed:
            return self._version

    @property
    def listed(self) -> frozenset[str]:
        """Kinds that were listed at least once."""
        with self._changed:
            return frozenset(self._listed)

    @property
    def events(self) -> frozenset[str]:
        """Names of the LabEvents."""
        with self._changed:
            return frozenset(self._names["LabEvent"])

    @property
    def notes(self) -> frozenset[str]:
        """Names of the Notes."""
        with self._changed:
            return frozenset(self._names["Note"])

    def of(self, model: type[ViewT]) -> tuple[ViewT, ...]:
        """Return every object of a kind, sorted by name."""
        with self._changed:
            views = self._views[model.__name__]
            return tuple(cast("ViewT", views[name]) for name in sorted(views))

    def bump(self) -> None:
        """Wake whoever waits: something else changed."""
        with self._changed:
            self._version += 1
            self._changed.notify_all()

    def wait(self, version: int, timeout_s: float | None) -> None:
        """Wait until there is something newer than `version`, at most `timeout_s` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._version > version, timeout_s)

    def replace(self, kind: str, objects: Iterable[Mapping[str, Any]], version: str) -> None:
        """Take a whole list, read at a resource version."""
        found = {str(obj["metadata"]["name"]): obj for obj in objects}
        at = _number(version)
        with self._changed:
            for name in tuple(self._names[kind] if kind in _NAMED else self._views[kind]):
                if name not in found and self._seen.get((kind, name), 0) <= at:
                    self._forget(kind, name, at)
            for obj in found.values():
                self._put(kind, obj)
            self._listed.add(kind)
            self._version += 1
            self._changed.notify_all()

    def apply(self, kind: str, change: str, obj: Mapping[str, Any]) -> None:
        """Take one change of a watch: ADDED, MODIFIED or DELETED."""
        with self._changed:
            if change == "DELETED":
                meta = obj["metadata"]
                self._forget(kind, str(meta["name"]), _number(meta["resourceVersion"]))
            else:
                self._put(kind, obj)
            self._version += 1
            self._changed.notify_all()

    def _put(self, kind: str, obj: Mapping[str, Any]) -> None:
        name, at = str(obj["metadata"]["name"]), _number(obj["metadata"]["resourceVersion"])
        if at <= self._seen.get((kind, name), 0):
            return
        self._seen[kind, name] = at
        if kind in _NAMED:
            self._names[kind].add(name)
            return
        try:
            self._views[kind][name] = _VIEWS[kind].model_validate(obj)
        except ValidationError as error:
            _LOG.warning("%s %s cannot be read: %s", kind, name, error.errors()[0]["msg"])
            self._views[kind].pop(name, None)

    def _forget(self, kind: str, name: str, at: int) -> None:
        if at < self._seen.get((kind, name), 0):
            return
        self._seen[kind, name] = at
        if kind in _NAMED:
            self._names[kind].discard(name)
        else:
            self._views[kind].pop(name, None)


def _number(resource_version: Any) -> int:
    """Resource versions of one API server are numbers that rise; see Kubernetes' KEP-5504."""
    text = str(resource_version)
    return int(text) if text.isdecimal() else 0
