"""Objects of a snapshot: read as their kind says, and found by resource and name.

It owns the refusal of an object that is not what its kind says; it refuses to know whose it is.
view.py and what lies beside it call it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from harness.errors import ConfigError

Snapshot = Mapping[str, tuple[dict[str, Any], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What every object has.

    Attributes:
        created_at: As the API server writes it: all in one form, so the texts sort as the times do.
        version: Its resource version; None where it has none.
    """

    uid: str
    created_at: str
    version: int | None
    labels: Mapping[str, Any]


#: Digits of a resource version: it is etcd's revision, a number of 64 bits.
VERSION_DIGITS = 19

_HINT = "grade a bundle as it was sealed"

ModelT = TypeVar("ModelT", bound=BaseModel)


class Reader:
    """Reads each list of objects once: the agent's end and its beginning share what did not change.

    It holds nothing but what it has read, so whoever makes one may throw it away.
    """

    def __init__(self) -> None:
        # The list is kept beside what was read of it, so that no other can get its identity.
        self._read: dict[tuple[type[BaseModel], int], tuple[Any, tuple[Any, ...]]] = {}

    def typed(self, model: type[ModelT], kind: str, snapshot: Snapshot) -> tuple[ModelT, ...]:
        """Return the objects of a qualified kind, in order.

        Raises:
            ConfigError: One is not what its kind says.
        """
        objects = snapshot.get(kind, ())
        key = (model, id(objects))
        if key not in self._read:
            self._read[key] = (objects, tuple(_typed(model, kind, objects)))
        return self._read[key][1]


def named(snapshot: Snapshot, resource: str) -> dict[str, Known]:
    """Return name to object of a resource, whatever its group. Pure.

    Args:
        snapshot: The objects.
        resource: A plural.

    Raises:
        ConfigError: One has no name.
    """
    found = {}
    for kind, objects in snapshot.items():
        if kind.partition(".")[0] == resource:
            for number, obj in enumerate(objects):
                metadata = obj.get("metadata")
                if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
                    msg = f"evidence, object {number} of {kind}: it has no name"
                    raise ConfigError(msg, hint=_HINT)
                found[metadata["name"]] = _known(metadata)
    return found


def _known(metadata: Mapping[str, Any]) -> Known:
    labels = metadata.get("labels")
    return Known(
        uid=str(metadata.get("uid")),
        created_at=str(metadata.get("creationTimestamp")),
        version=version_of(str(metadata.get("resourceVersion"))),
        labels=labels if isinstance(labels, dict) else {},
    )


def _typed(model: type[ModelT], kind: str, objects: Iterable[Any]) -> Iterator[ModelT]:
    for number, obj in enumerate(objects):
        try:
            yield model.model_validate(obj)
        except ValidationError as error:
            _refuse(f"object {number} of {kind}", error)


def shaped(model: type[ModelT], where: str, value: Any) -> ModelT:
    """Return a value of the evidence as a model.

    Raises:
        ConfigError: It is none.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        _refuse(where, error)


def version_of(text: str) -> int | None:
    """Return a resource version as the number that it is; None where it is none. Pure."""
    return int(text) if text.isdecimal() and len(text) <= VERSION_DIGITS else None


def aware(moment: datetime, where: str) -> datetime:
    """Return a time that has a zone.

    Raises:
        ConfigError: It has none, so that nobody can tell what was before and what after.
    """
    if moment.tzinfo is None:
        msg = f"evidence, {where}: time {moment.isoformat()} has no zone"
        raise ConfigError(msg, hint=_HINT)
    return moment


def _refuse(where: str, error: ValidationError) -> NoReturn:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    msg = f"evidence, {where}: {key}: {first['msg']}"
    raise ConfigError(msg, hint=_HINT) from error
