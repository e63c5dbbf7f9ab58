"""Where the blocks of a native configuration file begin and end: a lexer, not an evaluator.

Pure. It knows the shape of the language (strings, templates, heredocs, comments, brackets) and
nothing of what a block means, so that a file can be reduced to its `variable` blocks with every
line in its place. `declarations` calls it; what a file says, only the engine says.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z))
    |<<-?(?P<heredoc>(?:[^\W\d]|[^\x00-\x7f])(?:[\w-]|[^\x00-\x7f])*)\r?\n
    |(?P<quote>")
    |(?P<open>[{(\[])
    |(?P<close>[})\]])
    |(?P<name>(?:[^\W\d]|[^\x00-\x7f])(?:[\w-]|[^\x00-\x7f])*)
    |(?P<newline>\n)
    |(?P<equals>=)
    |(?P<other>[^\S\n]+|.)""",
    re.VERBOSE | re.DOTALL,
)

#: Inside a template: escapes first, since `$${` opens nothing.
_TEMPLATE = re.compile(r"\$\$\{|%%\{|(?P<open>[$%]\{)|(?P<newline>\n)|[^$%\n\"\\]+|.", re.DOTALL)
_QUOTED = re.compile(r"\\.|\$\$\{|%%\{|(?P<open>[$%]\{)|(?P<end>[\"\n])|[^$%\n\"\\]+|.", re.DOTALL)

_ESCAPE = re.compile(r"\\u(?P<four>[0-9a-fA-F]{4})|\\U(?P<eight>[0-9a-fA-F]{8})")

#: Frames of the stack that are no bracket.
_QUOTE = '"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block at the top of a file.

    Attributes:
        kind: Its type, for example `variable`.
        label: Its first label; empty where it has none.
        start: Offset of its first character.
        end: Offset behind its closing brace, or behind the text where that is missing.
        line: Line of its first character, from 1.
        attributes: Name to the text of its expression, comments and outer spaces left out.
    """

    kind: str
    label: str
    start: int
    end: int
    line: int
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int
    depth: int


@dataclass(slots=True)
class _Statement:
    """What was read of one block: its header, then the attributes of its body."""

    header: list[_Token] = field(default_factory=list)
    row: list[_Token] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)

    def end_row(self) -> None:
        """Take the row for an attribute, when it is one, and begin another."""
        row, self.row = self.row, []
        if len(row) > 2 and (row[0].kind, row[1].kind) == ("name", "equals"):
            self.attributes[row[0].text] = "".join(token.text for token in row[2:])


def scan_blocks(text: str) -> Iterator[Block]:
    """Yield the blocks at the top of a file, in order. Pure.

    Where the text breaks the grammar, a block may end late; the engine says what is wrong.
    """
    statement = _Statement()
    for token in _tokens(text):
        if token.kind == "comment":
            continue
        if token.depth == 0 and token.kind == "newline":
            statement = _Statement()
        elif token.depth == 0 and token.kind != "close":
            statement.header.append(token)
        elif token.depth == 0:
            statement.end_row()
            yield from _blocks(text, statement, token.end)
            statement = _Statement()
        elif token.depth == 1 and token.kind == "newline":
            statement.end_row()
        elif token.text.strip():
            statement.row.append(token)
    if any(token.kind == "open" for token in statement.header):
        yield from _blocks(text, statement, len(text))


def keep_blocks(text: str, kinds: Collection[str]) -> str:
    """Return the text with nothing but the blocks of some kinds, each in its lines. Pure."""
    kept, at = [], 0
    for block in scan_blocks(text):
        if block.kind in kinds:
            kept += [only_lines(text[at : block.start]), text[block.start : block.end]]
            at = block.end
    return "".join([*kept, only_lines(text[at:])])


def only_lines(text: str) -> str:
    """Return the line ends of a text, and nothing else. Pure."""
    return "\n" * text.count("\n")


def _blocks(text: str, statement: _Statement, end: int) -> Iterator[Block]:
    header = [token for token in statement.header if token.text.strip()]
    named = all(token.kind in {"name", "quote"} for token in header[:-1])
    if named and len(header) > 1 and header[-1].text == "{":
        labels = [_label(token) for token in header[1:-1]]
        yield Block(
            kind=header[0].text,
            label=labels[0] if labels else "",
            start=header[0].start,
            end=end,
            line=text.count("\n", 0, header[0].start) + 1,
            attributes=statement.attributes,
        )


def _label(token: _Token) -> str:
    if token.kind == "name":
        return token.text
    return _ESCAPE.sub(
        lambda found: chr(int(found["four"] or found["eight"], 16)), token.text[1:-1]
    )


def _tokens(text: str) -> Iterator[_Token]:
    """Yield tokens with the bracket depth they stand at; a string or a heredoc is one token.

    A bracket stands outside of itself: the brace of a top block has depth 0 at both ends.
    """
    at, depth = 0, 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:  # pragma: no cover - the last alternative takes anything
            raise AssertionError
        kind, end = found.lastgroup or "", found.end()
        if kind == "close":
            depth = max(0, depth - 1)
        elif kind in {"quote", "heredoc"}:
            end = _template_end(text, end, found["heredoc"] or _QUOTE)
        yield _Token(kind=kind, text=text[at:end], start=at, end=end, depth=depth)
        if kind == "open":
            depth += 1
        at = end


def _template_end(text: str, at: int, frame: str) -> int:
    """Return the offset behind a string or a heredoc whose content begins at `at`.

    The stack holds what is open from there: a quote, the end word of a heredoc, or `{` for code.
    """
    stack, fresh = [frame], True
    while stack and at < len(text):
        top = stack[-1]
        if top == "{":
            at = _step_code(text, at, stack)
            # A heredoc that was opened just now may end with its first line.
            fresh = text[at - 1] == "\n"
        elif top == _QUOTE:
            at = _step_quoted(text, at, stack)
        else:
            at, fresh = _step_heredoc(text, at, stack, fresh=fresh)
    return at


def _step_code(text: str, at: int, stack: list[str]) -> int:
    found = _TOKEN.match(text, at)
    if found is None:  # pragma: no cover - the last alternative takes anything
        raise AssertionError
    if found["quote"]:
        stack.append(_QUOTE)
    elif found["heredoc"]:
        stack.append(found["heredoc"])
    elif found["open"]:
        stack.append("{")
    elif found["close"]:
        stack.pop()
    return found.end()


def _step_quoted(text: str, at: int, stack: list[str]) -> int:
    found = _QUOTED.match(text, at)
    if found is None:  # pragma: no cover - the last alternative takes anything
        raise AssertionError
    if found["open"]:
        stack.append("{")
    elif found["end"]:
        stack.pop()
        # A string ends with its line; the newline itself is the code's again.
        return found.end() - (found["end"] == "\n")
    return found.end()


def _step_heredoc(text: str, at: int, stack: list[str], *, fresh: bool) -> tuple[int, bool]:
    if fresh:
        end = text.find("\n", at)
        line = text[at:] if end < 0 else text[at:end]
        if line.strip() == stack[-1]:
            stack.pop()
            return at + len(line), False
    found = _TEMPLATE.match(text, at)
    if found is None:  # pragma: no cover - the last alternative takes anything
        raise AssertionError
    if found["open"]:
        stack.append("{")
    return found.end(), bool(found["newline"])
