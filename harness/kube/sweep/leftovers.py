"""What a sweep leaves: the object, and what keeps it, on one line. Pure.

Finalizers, the conditions of a namespace, and the API server's own words are put together here;
nothing is asked of a cluster. Called by every kind of sweep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.core.naming import LABEL_PREFIX
from harness.kube.resources import NAMESPACES, Resource

#: Told the name of each step of a sweep once it is done.
OnStep = Callable[[str], None]

#: Characters of the API server's words that are kept.
_WORDS = 300

#: k8s.io/apiserver pkg/admission/plugin/webhook/errors: a call that failed, and a refusal.
_CALLED = re.compile(r'(?:failed calling|admission) webhook "([^"]+)"')

#: Beginnings of a failed call's text that tell nothing that is not said already.
_PREAMBLE = re.compile(r'^.*?failed to call webhook: (?:Post "[^"]*": )?', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """Something of ours that could not be removed.

    Attributes:
        object: `kind namespace/name`.
        blocker: What keeps it: finalizers, or the API server's own words.
    """

    object: str
    blocker: str

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.object} ({self.blocker})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep did.

    Attributes:
        deleted: How many objects were there, the namespace among them.
        leftovers: What is still there.
    """

    deleted: int
    leftovers: tuple[Leftover, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacles:
    """What stands on a cluster that can keep an object from going.

    Attributes:
        dead_apis: `group/version` of each aggregated API that does not answer, to why.
        webhooks: Name of an admission webhook to `plural name` of its configuration.
    """

    dead_apis: Mapping[str, str] = field(default_factory=dict)
    webhooks: Mapping[str, str] = field(default_factory=dict)


def is_our_finalizer(name: str) -> bool:
    """Tell whether a finalizer is one of ours. Pure."""
    return name.startswith(LABEL_PREFIX)


def without_ours(finalizers: Iterable[str]) -> list[str]:
    """Return the finalizers that are not ours, in their order. Pure."""
    return [name for name in finalizers if not is_our_finalizer(name)]


def line_of(kind: Resource, metadata: Mapping[str, Any]) -> str:
    """Return `kind namespace/name` of an object. Pure."""
    where = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{kind.qualified} {where}{metadata['name']}"


def leftover_of(
    kind: Resource, item: Mapping[str, Any], *, said: str = "", obstacles: Obstacles | None = None
) -> Leftover:
    """Return what keeps an object, read off it and off what the API server said. Pure.

    Args:
        kind: Its kind.
        item: The object as it stands.
        said: The API server's last refusal; empty when it refused nothing.
        obstacles: What is known of the cluster.
    """
    metadata = item["metadata"]
    spec = item.get("spec")
    held = spec.get("finalizers", ()) if kind == NAMESPACES and isinstance(spec, dict) else ()
    blockers = [f"finalizer {name}" for name in (*metadata.get("finalizers", ()), *held)]
    status = item.get("status")
    conditions = status.get("conditions") or () if isinstance(status, dict) else ()
    if kind == NAMESPACES:
        blockers += [one["message"] for one in conditions if one.get("status") == "True"]
    if said:
        blockers.append(why_refused(said, obstacles or Obstacles()))
    return Leftover(
        object=line_of(kind, metadata), blocker=", ".join(blockers) or "deletion was refused"
    )


def why_refused(said: str, obstacles: Obstacles) -> str:
    """Return who refused and why, with the configuration of a webhook by its name. Pure."""
    found = _CALLED.search(said)
    if found is None:
        return said[:_WORDS]
    configuration = obstacles.webhooks.get(found[1])
    who = f"webhook {found[1]}" + (f" of {configuration}" if configuration else "")
    return f"{who}: {_PREAMBLE.sub('', said)[:_WORDS]}"
