"""YAML that keeps file and line, and refuses what YAML lets slip: duplicates, aliases, NaN.

`load_document` gives plain data with the line of every key; `build` turns it into a frozen pydantic
model, so that each error is one line with file, line, key, what was found, what is expected.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from harness.core.problems import problem_of, shown, sorted_problems
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


#: Tag to the form of its scalars, and the characters that they begin with. A float needs a point or
#: an exponent: `017` is neither a float nor an int, so it stays text.
_SCALARS: dict[str, tuple[re.Pattern[str], list[str]]] = {
    _BOOL: (re.compile(r"\A(?:true|false)\Z"), list("tf")),
    _NULL: (re.compile(r"\A(?:null|~|)\Z"), ["n", "~", ""]),
    _INT: (re.compile(r"\A[-+]?(?:0|[1-9][0-9]*)\Z"), list("-+0123456789")),
    _FLOAT: (
        re.compile(
            r"\A(?:[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
        ),
        list("-+.0123456789"),
    ),
}


class _Loader(yaml.SafeLoader):
    """SafeLoader with YAML 1.2's scalars: `no`, `12:30:45`, `017` and dates stay text."""

    yaml_implicit_resolvers: dict[str, Any] = {}


for _tag, (_pattern, _first) in _SCALARS.items():
    _Loader.add_implicit_resolver(_tag, _pattern, _first)


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
        key = _shown_path(key_path)
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
        raise kind(msg, hint="check the name in the file that lists it") from error
    except UnicodeDecodeError as error:
        line = bytes(error.object[: error.start]).count(b"\n") + 1
        msg = f"{path}:{line}: byte {error.start} is not UTF-8"
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
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        msg = f"{path}:{line}: character {chr(error.character)!r} is not allowed"
        raise kind(msg, hint="remove it") from error
    except (ValueError, OverflowError) as error:  # PyYAML checks no escape and no version number
        msg = f"{path}:1: holds an escape or a %YAML version that is out of range"
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
                plain = isinstance(key_node, yaml.ScalarNode)
                found_key = shown(repr(key_node.value)) if plain else f"({key_node.id})"
                msg = f"{path}:{key_line}: key {found_key} is not text"
                raise kind(msg, hint="quote the key")
            key = _whole(path, key_node, at, kind)
            if key in found:
                first = lines[(*at, key)]
                msg = f"{path}:{key_line}: {shown(repr(key))} stands twice, first in line {first}"
                raise kind(msg, hint="keep one of them")
            lines[(*at, key)] = key_line
            found[key] = _value(path, value_node, (*at, key), lines, kind)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(path, item, (*at, index), lines, kind) for index, item in enumerate(node.value)
        ]
    return _scalar(path, node, at, kind)


def _whole(path: Path, node: yaml.Node, at: KeyPath, kind: type[ConfigError]) -> str:
    """Return a scalar's text; an escape can write half a character, which no file can store."""
    text = str(node.value)
    if any("\ud800" <= char <= "\udfff" for char in text):
        msg = f"{path}:{node.start_mark.line + 1}: {_shown_path(at)}: holds half of a character"
        raise kind(msg, hint="write the character itself, or \\U and eight digits")
    return text


def _scalar(path: Path, node: yaml.Node, at: KeyPath, kind: type[ConfigError]) -> Any:
    text = _whole(path, node, at, kind)
    tag = node.tag
    if tag == _STR:
        return text
    # A tag can be written out (`!!int x`), so what it says is held against the text.
    if tag in _SCALARS and _SCALARS[tag][0].match(text):
        if tag == _NULL:
            return None
        if tag == _BOOL:
            return text == "true"
        if tag == _INT and len(text) <= 40:
            return int(text)
        if tag == _FLOAT:
            number = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
            if math.isfinite(number):
                return number
    msg = (
        f"{path}:{node.start_mark.line + 1}: {_shown_path(at)}: {shown(repr(text))}"
        f" ({tag.removeprefix('tag:yaml.org,2002:')}) is not allowed here"
    )
    raise kind(msg, hint="use text, a finite number, true, false or null")


def _shown_path(key_path: Sequence[str | int]) -> str:
    """Return a key path on one line; a key may hold anything."""
    parts = (str(part) for part in key_path)
    return ".".join(shown(part if part.isprintable() else repr(part)) for part in parts)


def build(model: type[ModelT], document: Document, *, kind: type[ConfigError]) -> ModelT:
    """Return the model that a document describes.

    Raises:
        ConfigError: Of class `kind`; the first problem with file, line, key and a hint, and how
            many more there are.
    """
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        problems = sorted_problems(error)
        first = problems[0]
        key_path = _real_path(document.data, first["loc"])
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        problem, hint = problem_of(model, first)
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
