"""YAML that keeps file and line, and refuses what YAML lets slip: duplicates, aliases, NaN.

`load_document` gives plain data with the line of every key; `build` turns it into a frozen pydantic
model, so that each error is one line with file, line, key, what was found, what is expected.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from harness.errors import ConfigError

#: Bytes of the longest file read. The longest of ours is under 10 kB; 20 MB take PyYAML 9 s.
SIZE_LIMIT_BYTES = 1024 * 1024

#: Levels of nesting; PyYAML recurses, and Python's own limit would show as a traceback.
_DEPTH_LIMIT = 60

ModelT = TypeVar("ModelT", bound=BaseModel)
KeyPath = tuple[str | int, ...]

_STR, _INT, _FLOAT, _BOOL, _NULL = (
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")
)


class _Loader(yaml.SafeLoader):
    """SafeLoader with YAML 1.2's scalars: `no`, `12:30:45`, `017` and dates stay text."""

    yaml_implicit_resolvers: dict[str, Any] = {}


for _tag, _pattern, _first in (
    (_BOOL, r"^(?:true|false)$", "tf"),
    (_NULL, r"^(?:null|~|)$", ["n", "~", ""]),
    (_INT, r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    (_FLOAT, r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
    (_FLOAT, r"^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$", "-+."),
):
    _Loader.add_implicit_resolver(_tag, __import__("re").compile(_pattern), _first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One YAML mapping, where it came from, and the line of every key and item.

    Attributes:
        path: The file.
        data: Plain data.
        lines: Key path to line, counted from 1; () is the document itself.
    """

    path: Path
    data: dict[str, Any]
    lines: dict[KeyPath, int]

    def where(self, key_path: Sequence[str | int] = ()) -> str:
        """Return `file:line` of the nearest thing that has a line."""
        parts = tuple(key_path)
        while parts and parts not in self.lines:
            parts = parts[:-1]
        return f"{self.path}:{self.lines.get(parts, 1)}"

    def error(
        self,
        kind: type[ConfigError],
        key_path: Sequence[str | int],
        problem: str,
        *,
        hint: str | None = None,
    ) -> ConfigError:
        """Return an error that opens with file, line and key."""
        key = ".".join(str(part) for part in key_path)
        return kind(f"{self.where(key_path)}: {f'{key}: ' if key else ''}{problem}", hint=hint)


def load_document(path: Path, *, kind: type[ConfigError] = ConfigError) -> Document:
    """Read one YAML mapping.

    Raises:
        ConfigError: Of class `kind`; one line with file, line and key.
    """
    documents = load_documents(path, kind=kind)
    if len(documents) != 1:
        line = documents[1].lines[()]
        msg = f"{path}:{line}: {len(documents)} documents, expected one"
        raise kind(msg, hint="put each document into a file of its own")
    return documents[0]


def load_documents(path: Path, *, kind: type[ConfigError] = ConfigError) -> tuple[Document, ...]:
    """Read every YAML mapping of a file, at least one."""
    try:
        size = path.stat().st_size
        if size > SIZE_LIMIT_BYTES:
            msg = f"{path}: {size} bytes, at most {SIZE_LIMIT_BYTES} expected"
            raise kind(msg, hint="split the file")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise kind(msg) from error
    except UnicodeDecodeError as error:
        msg = f"{path}: byte {error.start} is not UTF-8"
        raise kind(msg, hint="save the file as UTF-8") from error
    try:
        _refuse_aliases(path, text, kind)
        nodes = list(yaml.compose_all(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problem = (error.problem or "not YAML").replace("\n", " ")
        hint = "indent with spaces, not tabs" if "\\t" in problem else "check the YAML syntax"
        msg = f"{path}:{line}: {problem}"
        raise kind(msg, hint=hint) from error
    except yaml.YAMLError as error:
        msg = f"{path}: {str(error).splitlines()[0]}"
        raise kind(msg, hint="check the YAML syntax") from error
    if not nodes:
        msg = f"{path}:1: empty, expected a mapping"
        raise kind(msg, hint="write at least one key")
    return tuple(_document(path, node, kind) for node in nodes)


def _refuse_aliases(path: Path, text: str, kind: type[ConfigError]) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            msg = f"{path}:{line}: alias *{event.anchor} is not allowed"
            raise kind(msg, hint="write the value out")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEPTH_LIMIT:
            msg = f"{path}:{line}: nested deeper than {_DEPTH_LIMIT} levels"
            raise kind(msg, hint="flatten the document")


def _document(path: Path, node: yaml.Node, kind: type[ConfigError]) -> Document:
    lines: dict[KeyPath, int] = {}
    data = _value(path, node, (), lines, kind)
    if not isinstance(data, dict):
        found = "a list" if isinstance(data, list) else "a single value"
        msg = f"{path}:{node.start_mark.line + 1}: {found}, expected a mapping"
        raise kind(msg, hint="start with `key: value`")
    return Document(path=path, data=data, lines=lines)


def _value(
    path: Path, node: yaml.Node, at: KeyPath, lines: dict[KeyPath, int], kind: type[ConfigError]
) -> Any:
    line = node.start_mark.line + 1
    lines.setdefault(at, line)
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key_line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag != _STR:
                msg = f"{path}:{key_line}: key {key_node.value!r} is not text"
                raise kind(msg, hint="quote the key")
            key = key_node.value
            if key in found:
                first = lines[(*at, key)]
                msg = f"{path}:{key_line}: {key!r} stands twice, first in line {first}"
                raise kind(msg, hint="keep one of them")
            lines[(*at, key)] = key_line
            found[key] = _value(path, value_node, (*at, key), lines, kind)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(path, item, (*at, index), lines, kind) for index, item in enumerate(node.value)
        ]
    return _scalar(path, node, at, kind)


def _scalar(path: Path, node: yaml.Node, at: KeyPath, kind: type[ConfigError]) -> Any:
    text = str(node.value)
    match node.tag:
        case tag if tag == _STR:
            return text
        case tag if tag == _NULL:
            return None
        case tag if tag == _BOOL:
            return text.lower() == "true"
        case tag if tag == _INT and len(text) <= 40:
            return int(text)
        case tag if tag == _FLOAT:
            number = float(text.replace(".inf", "inf").replace(".nan", "nan").lower().lstrip("+"))
            if math.isfinite(number):
                return number
    key = ".".join(str(part) for part in at)
    shown = text if len(text) <= 40 else f"{text[:40]}..."
    msg = f"{path}:{node.start_mark.line + 1}: {key}: {shown!r} ({node.tag}) is not allowed here"
    raise kind(msg, hint="use text, a finite number, true, false or null")


def build(model: type[ModelT], document: Document, *, kind: type[ConfigError]) -> ModelT:
    """Return the model that a document describes.

    Raises:
        ConfigError: Of class `kind`; the first problem with file, line, key and a hint, and how
            many more there are.
    """
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        first = problems[0]
        key_path = _real_path(document.data, first["loc"])
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        problem, hint = _problem(model, first)
        raise document.error(kind, key_path, problem + more, hint=hint) from error


def _real_path(data: Any, loc: Sequence[str | int]) -> KeyPath:
    """Leave out what pydantic adds to a path: the names of the members of a union."""
    found: list[str | int] = []
    for index, part in enumerate(loc):
        inside_map = isinstance(data, dict) and part in data
        inside_list = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if inside_map or inside_list:
            found.append(part)
            data = data[part]
        elif index == len(loc) - 1:
            found.append(part)
    return tuple(found)


def _problem(model: type[BaseModel], problem: Any) -> tuple[str, str | None]:
    match problem["type"]:
        case "extra_forbidden":
            nearest = difflib.get_close_matches(str(problem["loc"][-1]), _keys_of(model), n=1)
            hint = f"did you mean {nearest[0]!r}?" if nearest else "remove it"
            return "unknown key", hint
        case "missing":
            return "missing", "add it"
        case "union_tag_invalid":
            expected = problem["ctx"]["expected_tags"]
            nearest = difflib.get_close_matches(
                problem["ctx"]["tag"], [tag.strip("' ") for tag in expected.split(",")], n=1
            )
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"use one of {expected}"
            return f"unknown kind {problem['ctx']['tag']!r}", hint
        case _:
            text = problem["msg"].removeprefix("Value error, ")
            found = repr(problem["input"])
            shown = found if len(found) <= 60 else f"{found[:60]}..."
            return f"{text[:1].lower()}{text[1:]}, found {shown}", None


def _keys_of(model: type[BaseModel]) -> list[str]:
    """Return every key that the model and the models below it know."""
    return sorted({key for found in _models(model, set()) for key in found.model_fields})


def _models(annotation: Any, seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation in seen:
            return
        seen.add(annotation)
        yield annotation
        for field in annotation.model_fields.values():
            yield from _models(field.annotation, seen)
    for argument in getattr(annotation, "__args__", ()):
        yield from _models(argument, seen)
