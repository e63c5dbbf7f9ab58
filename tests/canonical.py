"""What somebody can read of a laboratory, with all that differs by chance taken out.

Two laboratories that are the same but for UIDs, names of the attempt and the time of day come out
equal; counts, order, generations and durations are kept. Called by the tests that hold the baseline
of one truth against that of another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

#: Times as an API server and the laboratory write them.
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")

#: Characters of a UID that stand in the names of events.
_UID_CHARS = 8

#: Kinds that are made side by side, in whatever order.
_FURNISHED = frozenset({"instruments", "capabilities", "labpolicies", "configmaps"})

Objects = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Canonical:
    """What is to be read.

    Attributes:
        lines: The objects, a field a line, each time replaced by a mark.
        seconds: The times, in the order of their marks, since the first of all.
    """

    lines: tuple[str, ...]
    seconds: tuple[float, ...]


def canonical(objects: Objects, names: Mapping[str, str], *, as_recorded: bool = True) -> Canonical:
    """Return what is to be read of objects. Pure.

    Args:
        objects: Qualified kind to objects.
        names: What belongs to the attempt to what stands for it, for example its namespace.
        as_recorded: Whether events stand in the order in which they were recorded, which on a busy
            machine is chance; else by what they are about.
    """
    places = {kind: _place(kind, as_recorded=as_recorded) for kind in objects}
    ordered = {kind: sorted(objects[kind], key=places[kind]) for kind in sorted(objects)}
    uids = {
        obj["metadata"]["uid"]: f"<{kind}-{number}>"
        for kind, listed in ordered.items()
        for number, obj in enumerate(listed)
    }
    short = {uid[:_UID_CHARS]: mark for uid, mark in uids.items()}
    # Longest first: a short name must not be replaced inside of a longer one.
    known = {**names, **uids, **short}
    words = sorted(known, key=lambda word: (-len(word), word))
    told = json.dumps([[kind, [_without(obj) for obj in ordered[kind]]] for kind in ordered])
    pattern = re.compile("|".join(map(re.escape, words)))
    text = pattern.sub(lambda found: known[found[0]], told) if words else told
    times = [datetime.fromisoformat(found) for found in _TIME.findall(text)]
    first = min(times, default=None)
    return Canonical(
        lines=tuple(_lines(json.loads(_TIME.sub("<time>", text)))),
        seconds=tuple((time - first).total_seconds() for time in times) if first else (),
    )


def differences(one: Canonical, other: Canonical, *, tolerance_s: float) -> list[str]:
    """Return what tells two laboratories apart; nothing when they are equal. Pure."""
    if one.lines != other.lines:
        found = [f"- {line}" for line in one.lines if line not in set(other.lines)]
        found += [f"+ {line}" for line in other.lines if line not in set(one.lines)]
        return found or ["the same lines in another order"]
    return [
        f"{a:.3f} s against {b:.3f} s after the first time"
        for a, b in zip(one.seconds, other.seconds, strict=True)
        if abs(a - b) > tolerance_s
    ]


def _place(kind: str, *, as_recorded: bool) -> Callable[[Mapping[str, Any]], Any]:
    """Return what objects of a kind are sorted by."""
    plural = kind.partition(".")[0]
    if plural in _FURNISHED:
        return lambda obj: obj["metadata"]["name"]
    if plural == "labevents" and not as_recorded:
        keys = ("run", "task", "type")
        return lambda obj: ([obj["spec"].get(key, "") for key in keys], obj["metadata"]["name"])
    return lambda obj: int(obj["metadata"]["resourceVersion"])


def _without(obj: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: item for key, item in obj["metadata"].items() if key != "resourceVersion"}
    return {**obj, "metadata": metadata}


def _lines(value: Any, path: str = "") -> list[str]:
    if isinstance(value, dict):
        return [line for key in sorted(value) for line in _lines(value[key], f"{path}/{key}")]
    if isinstance(value, list):
        return [
            line for number, item in enumerate(value) for line in _lines(item, f"{path}/{number}")
        ] + [f"{path} has {len(value)}"]
    return [f"{path} = {json.dumps(value)}"]
