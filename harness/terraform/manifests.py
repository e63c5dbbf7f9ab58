"""Which Kubernetes objects a state answers for: kind, name and UID of each, and nothing else.

Pure. The UID is what the API server gave to the object that our apply made, so whoever makes one
of the same name later is told apart. `stack` calls it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: The one resource of the provider that makes objects.
_TYPE = "kubectl_manifest"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedManifest:
    """One object as it was applied.

    Attributes:
        namespace: Empty for what is cluster-scoped.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


def applied_manifests(shown: Mapping[str, Any]) -> tuple[AppliedManifest, ...]:
    """Return the objects of a state's JSON, sorted by kind, namespace and name. Pure."""
    root = (shown.get("values") or {}).get("root_module") or {}
    found = (
        AppliedManifest(
            api_version=values["api_version"],
            kind=values["kind"],
            namespace=values.get("namespace") or "",
            name=values["name"],
            uid=values["uid"],
        )
        for values in _values(root)
    )
    return tuple(sorted(found, key=lambda one: (one.kind, one.namespace, one.name)))


def _values(module: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in module.get("resources") or ():
        if resource["type"] == _TYPE and resource["mode"] == "managed":
            yield resource["values"]
    for child in module.get("child_modules") or ():
        yield from _values(child)
