"""Where the blocks of a JSON configuration file begin and end.

Pure; the counterpart of `blocks` for `.tf.json`. A property may stand twice there, and each one
counts, so the positions are read from the text and not from a parsed document. `declarations`
calls it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from harness.terraform.blocks import Block, only_lines

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """One property, or one item of a list, whose key is then empty."""

    key: str
    start: int
    value: int
    end: int


def scan_json_blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a JSON configuration, in order; the text is valid JSON. Pure."""
    for top in _objects(text, 0):
        for member in _members(text, top):
            for labels in _objects(text, member.value):
                for labelled in _members(text, labels):
                    for body in _objects(text, labelled.value):
                        yield Block(
                            kind=member.key,
                            label=labelled.key,
                            start=labelled.start,
                            end=labelled.end,
                            line=text.count("\n", 0, labelled.start) + 1,
                            attributes={
                                one.key: text[one.value : one.end].strip()
                                for one in _members(text, body)
                            },
                        )


def keep_json_blocks(text: str, kinds: Collection[str]) -> str:
    """Return the text with nothing but the blocks of some kinds, each in its lines. Pure."""
    pieces, at = [], 0
    for top in _objects(text, 0):
        comma = ""
        for member in _members(text, top):
            kept = member.key in kinds
            if at <= top:
                pieces += [text[at : top + 1], only_lines(text[top + 1 : member.start])]
            else:
                pieces.append(only_lines(text[at : member.start]))
            body = text[member.start : member.end]
            pieces.append(comma + body if kept else only_lines(body))
            comma = "," if kept else comma
            at = member.end
    return "".join(pieces) + text[at:]


def _objects(text: str, at: int) -> Iterator[int]:
    """Yield where the objects begin that stand at `at`: one, or those of a list there."""
    found = _TOKEN.search(text, at)
    if found and found[0] == "{":
        yield found.start()
    elif found and found[0] == "[":
        for item in _members(text, found.start()):
            yield from _objects(text, item.value)


def _members(text: str, at: int) -> Iterator[_Member]:
    """Yield the members of the object or list that opens at `at`."""
    depth, key, start, value, end = 0, None, -1, -1, at
    for token in _TOKEN.finditer(text, at):
        mark = token[0]
        if depth == 1 and mark in "}],":
            if value >= 0:
                yield _Member(key=key or "", start=start, value=value, end=end)
            key, start, value = None, -1, -1
            if mark != ",":
                return
        elif depth == 1 and mark == ":":
            key, value = json.loads(text[start:end]), -1
        elif depth == 1 and value < 0:
            start, value = (token.start() if key is None else start), token.start()
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
        end = token.end()
