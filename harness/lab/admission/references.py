"""Kind and name by which one object of the laboratory names another. Pure."""

from __future__ import annotations

from typing import Any

from harness.kube.resources import LAB_KINDS


def lab_kinds() -> tuple[str, ...]:
    """Return every kind of the laboratory, in the order in which evidence lists them. Pure."""
    return tuple(resource.kind for resource in LAB_KINDS)


def reference_of(value: Any) -> tuple[str, str] | None:
    """Return kind and name of what a value refers to; None when it is no reference. Pure."""
    kind, name = (value.get("kind"), value.get("name")) if isinstance(value, dict) else ("", "")
    if not isinstance(name, str) or not name or kind not in lab_kinds():
        return None
    return str(kind), name
