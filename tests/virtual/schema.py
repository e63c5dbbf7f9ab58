"""The definitions of the laboratory's kinds as an API server applies them: prune, default, refuse.

Read from the definitions' own files; their CEL rules are in `cel`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.virtual.cel import Rule, rule_of

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """One CEL rule of one place."""

    rule: Rule
    message: str
    path: str
    reason: str


@dataclass(slots=True, kw_only=True)
class Node:
    """One place of a schema, compiled."""

    kind: str
    schema: Mapping[str, Any]
    properties: dict[str, Node] = field(default_factory=dict)
    items: Node | None = None
    keeps_unknown: bool = False
    rules: tuple[_Checked, ...] = ()
    pattern: re.Pattern[str] | None = None
    has_rules: bool = False

    def fill(self, value: Any) -> Any:
        """Return it with unknown fields dropped and defaults filled in; nothing is changed."""
        if isinstance(value, dict) and self.kind == "object":
            return self._fill_object(value)
        if isinstance(value, list) and self.items is not None:
            return [self.items.fill(item) for item in value]
        return value

    def _fill_object(self, value: dict[str, Any]) -> dict[str, Any]:
        filled = dict(value) if self.keeps_unknown else {}
        for name, node in self.properties.items():
            given = value.get(name)
            if given is None and "default" in node.schema:
                filled[name] = node.fill(node.schema["default"])
            elif name in value:
                filled[name] = node.fill(given)
        return filled

    def problems(self, value: Any, path: str) -> Iterator[str]:
        """Yield what is wrong with a value that was filled, as an API server says it."""
        if not _is_a(value, self.kind):
            yield f"{path}: Invalid value: {_short(value)}: {path} must be of type {self.kind}"
            return
        schema = self.schema
        if "enum" in schema and value not in schema["enum"]:
            known = ", ".join(f'"{one}"' for one in schema["enum"])
            yield f"{path}: Unsupported value: {_short(value)}: supported values: {known}"
        match value:
            case str():
                yield from self._text_problems(value, path)
            case list() if self.items is not None:
                yield from self._count_problems(len(value), "Items", path)
                for number, item in enumerate(value):
                    yield from self.items.problems(item, f"{path}[{number}]")
            case dict():
                yield from self._object_problems(value, path)
            case _ if self.kind in ("integer", "number"):
                yield from self._size_problems(value, path)
            case _:
                pass

    def _size_problems(self, value: float, path: str) -> Iterator[str]:
        low, high = self.schema.get("minimum"), self.schema.get("maximum")
        if low is not None and value < low:
            yield f"{path}: Invalid value: {value}: {path} should be >= {low}"
        if high is not None and value > high:
            yield f"{path}: Invalid value: {value}: {path} should be <= {high}"

    def _text_problems(self, value: str, path: str) -> Iterator[str]:
        yield from self._count_problems(len(value), "Length", path)
        if self.pattern is not None and not self.pattern.search(value):
            yield (
                f"{path}: Invalid value: {_short(value)}: {path} should match "
                f"'{self.pattern.pattern}'"
            )

    def _count_problems(self, count: int, what: str, path: str) -> Iterator[str]:
        low, high = self.schema.get(f"min{what}"), self.schema.get(f"max{what}")
        if high is not None and count > high:
            yield f"{path}: Too long: may not be more than {high}"
        if low is not None and count < low:
            yield f"{path}: Invalid value: {path} should have at least {low}"

    def _object_problems(self, value: dict[str, Any], path: str) -> Iterator[str]:
        yield from self._count_problems(len(value), "Properties", path)
        for name in self.schema.get("required", ()):
            if name not in value:
                yield f"{_under(path, name)}: Required value"
        for name, node in self.properties.items():
            if name in value:
                yield from node.problems(value[name], _under(path, name))

    def broken(self, old: Any, new: Any, path: str) -> Iterator[str]:
        """Yield which CEL rules a change breaks; only called where the schema holds."""
        for one in self.rules:
            if not one.rule(old, new):
                where = f"{path}{one.path}".lstrip(".")
                yield f"{where}: {one.reason}: {one.message}"
        if isinstance(new, dict):
            for name, node in self.properties.items():
                if node.has_rules and name in new:
                    before = old.get(name) if isinstance(old, dict) else None
                    yield from node.broken(before, new[name], _under(path, name))


def _under(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


#: Type in a schema to the types of Python; a boolean is no number.
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}


def _is_a(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind in ("boolean", "")
    return kind not in _TYPES or isinstance(value, _TYPES[kind])


def _short(value: Any) -> str:
    return json.dumps(value, default=str)[:80]


#: Reason in a definition to the words of the API server.
_REASONS = {"FieldValueForbidden": "Forbidden", "FieldValueRequired": "Required value"}


def _compile(schema: Mapping[str, Any], kind: str) -> Node:
    properties = {name: _compile(one, kind) for name, one in schema.get("properties", {}).items()}
    items = _compile(schema["items"], kind) if isinstance(schema.get("items"), dict) else None
    rules = tuple(
        _Checked(
            rule=rule_of(one["rule"], kind),
            message=one.get("message") or "illegal transition",
            path=one.get("fieldPath", ""),
            reason=_REASONS.get(one.get("reason", ""), "Invalid value"),
        )
        for one in schema.get("x-kubernetes-validations", ())
    )
    return Node(
        kind=schema.get("type", ""),
        schema=schema,
        properties=properties,
        items=items,
        keeps_unknown=bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        or isinstance(schema.get("additionalProperties"), dict),
        rules=rules,
        pattern=re.compile(schema["pattern"]) if "pattern" in schema else None,
        has_rules=bool(rules) or any(node.has_rules for node in properties.values()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One kind of the laboratory's."""

    kind: str
    plural: str
    root: Node
    has_status: bool

    def fill(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object as it would be decoded: pruned and with defaults; metadata as it is."""
        filled = {
            name: node.fill(obj[name]) if obj.get(name) is not None else None
            for name, node in self.root.properties.items()
            if name != "metadata" and (name in obj or "default" in node.schema)
        }
        for name, value in tuple(filled.items()):
            if value is None:
                node = self.root.properties[name]
                if "default" in node.schema:
                    filled[name] = node.fill(node.schema["default"])
                else:
                    del filled[name]
        return {
            "apiVersion": obj.get("apiVersion"),
            "kind": obj.get("kind"),
            "metadata": obj.get("metadata", {}),
            **filled,
        }

    def problems(self, old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> list[str]:
        """Return what the schema and its rules have against an object."""
        found = list(self.root.problems(dict(new), ""))
        return found or list(self.root.broken(old, dict(new), ""))


@cache
def definitions() -> Mapping[str, Definition]:
    """Return every kind of the laboratory's by its plural."""
    found = {}
    for path in sorted((ROOT / "tf" / "modules" / "lab_api" / "crds").glob("*.yaml")):
        document = yaml.safe_load(path.read_text())
        names, (version,) = document["spec"]["names"], document["spec"]["versions"]
        found[names["plural"]] = Definition(
            kind=names["kind"],
            plural=names["plural"],
            root=_compile(version["schema"]["openAPIV3Schema"], names["kind"]),
            has_status="status" in version.get("subresources", {}),
        )
    return found
