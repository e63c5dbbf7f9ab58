"""Placeholders: `{{ name }}` in a file of ours stands for the value of a root variable.

Names only. jinja2 splits the text; an expression, a filter, a statement or a comment is an error,
so that nothing can be computed where only a value may stand. Tasks, specs and controls share this.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jinja2

from harness.core.documents import Document, KeyPath
from harness.errors import ConfigError, VariableError

Json = Any

# Never renders: only its lexer is used, so nothing is escaped or executed.
_ENVIRONMENT = jinja2.Environment(
    undefined=jinja2.StrictUndefined, autoescape=True, keep_trailing_newline=True
)

#: What begins anything but plain text.
_MARKS = ("{{", "{%", "{#")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """Plain text, or the name of a variable."""

    text: str
    is_name: bool


def render(value: Json, values: Mapping[str, Json]) -> Json:
    """Return `value` with every placeholder replaced, in lists and mappings too. Pure.

    A text that is one placeholder and nothing else takes the variable's value with its type;
    inside a longer text a value stands as text, and what is no text as JSON.

    Raises:
        VariableError: A name is not declared, or something else than a name stands in braces.
    """
    if isinstance(value, str):
        return _render_text(value, values)
    if isinstance(value, list):
        return [render(item, values) for item in value]
    if isinstance(value, dict):
        return {_plain_key(key): render(item, values) for key, item in value.items()}
    return value


def names_in(value: Json) -> set[str]:
    """Return the name of every placeholder in `value`. Pure."""
    return {
        piece.text for _, text in _texts(value, ()) for piece in _pieces_of(text) if piece.is_name
    }


def render_document(
    document: Document, values: Mapping[str, Json], *, kind: type[ConfigError]
) -> Document:
    """Return the document with every placeholder replaced. Pure.

    Raises:
        ConfigError: Of class `kind`; file, line and key of the first that cannot be.
    """
    for key_path, text in _texts(document.data, ()):
        try:
            _render_text(text, values)
        except VariableError as error:
            raise document.error(kind, key_path, error.message, hint=error.hint) from error
    return replace(document, data=render(document.data, values))


def _texts(value: Json, at: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Yield every text with its key path, in the order of the file."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*at, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*at, key))


def _render_text(text: str, values: Mapping[str, Json]) -> Json:
    pieces = _pieces_of(text)
    found = [_value_of(piece, values) if piece.is_name else piece.text for piece in pieces]
    if len(pieces) == 1:
        return found[0]
    return "".join(
        item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in found
    )


def _value_of(piece: _Piece, values: Mapping[str, Json]) -> Json:
    if piece.text in values:
        return values[piece.text]
    nearest = difflib.get_close_matches(piece.text, sorted(values), n=1)
    msg = f"placeholder {piece.text!r} names no variable of the stack"
    if nearest:
        raise VariableError(msg, hint=f"did you mean {nearest[0]!r}?")
    raise VariableError(msg, hint=f"use one of {', '.join(sorted(values)) or 'none: it has none'}")


def _pieces_of(text: str) -> tuple[_Piece, ...]:
    if not any(mark in text for mark in _MARKS):
        return (_Piece(text=text, is_name=False),)
    body = text.replace("\r", "\x00")  # the lexer would turn \r\n into \n
    try:
        tokens = [token for token in _ENVIRONMENT.lex(body) if token[1] != "whitespace"]
    except jinja2.TemplateSyntaxError as error:
        raise _not_a_name(text) from error
    kinds = [token[1] for token in tokens]
    pieces: list[_Piece] = []
    index = 0
    while index < len(tokens):
        if kinds[index] == "data":
            pieces.append(_Piece(text=tokens[index][2].replace("\x00", "\r"), is_name=False))
            index += 1
            continue
        plain = (tokens[index][2], *kinds[index + 1 : index + 3])
        if plain != ("{{", "name", "variable_end") or tokens[index + 2][2] != "}}":
            raise _not_a_name(text)
        pieces.append(_Piece(text=tokens[index + 1][2], is_name=True))
        index += 3
    return tuple(pieces)


def _plain_key(key: str) -> str:
    if any(mark in key for mark in _MARKS):
        msg = f"key {key!r} holds a placeholder, which only a value may"
        raise VariableError(msg, hint="write the key out")
    return key


def _not_a_name(text: str) -> VariableError:
    shown = text if len(text) <= 60 else f"{text[:60]}..."
    msg = f"{shown!r} holds more than names between braces"
    return VariableError(msg, hint="write {{ name }} with the name of a root variable")
