"""Where a stack declares its variables: names, files and lines, for presentation.

A line scanner, not an evaluator: it says where to point a reader and which names to ask Terraform
about. What a variable's value is, and whether it exists, only Terraform says (`variables`).
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path
from typing import Any

from harness.errors import VariableError

#: Files that may declare variables. They are planned alone, so they may hold nothing that needs a
#: provider or another file.
_DECLARING = ("*variables*.tf", "*variables*.tf.json")

#: Files from which Terraform takes values by itself.
_GIVING = ("terraform.tfvars", "terraform.tfvars.json", "*.auto.tfvars", "*.auto.tfvars.json")

_BLOCK = re.compile(r'^\s*variable\s+"?(?P<name>[^\s"{]+)"?\s*\{')
_HEREDOC = re.compile(r"<<-?\s*(?P<tag>[\w-]+)\s*$")
_SENSITIVE = re.compile(r"^[^#]*\bsensitive\s*=\s*true\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """One `variable` block.

    Attributes:
        name: The variable.
        path: Its file.
        line: Its first line, from 1.
        sensitive: Whether the block seems to say so; errs towards yes.
    """

    name: str
    path: Path
    line: int
    sensitive: bool


def existing_stack(stack_dir: Path) -> Path:
    """Return the folder of a stack that is there.

    Raises:
        VariableError: It is not; the message lists the stacks there are.
    """
    if any(stack_dir.glob("*.tf")) or any(stack_dir.glob("*.tf.json")):
        return stack_dir
    there = sorted(path.parent.name for path in stack_dir.parent.glob("*/*.tf"))
    names = list(dict.fromkeys(there))
    msg = f"{stack_dir}: no stack named {stack_dir.name!r}"
    raise VariableError(msg, hint=nearest_hint(stack_dir.name, names, what="stacks"))


def nearest_hint(name: str, known: Iterable[str], *, what: str) -> str:
    """Return one imperative that names the nearest of `known`, or all of them. Pure."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"use {near[0]!r}"
    return f"use one of the {what}: {', '.join(names)}" if names else f"declare {name!r} first"


def variable_files(stack_dir: Path) -> tuple[Path, ...]:
    """Return the files that decide the values of a stack's variables, sorted."""
    return tuple(
        path
        for path in sorted(stack_dir.iterdir())
        if path.is_file() and any(fnmatch(path.name, form) for form in _DECLARING + _GIVING)
    )


def find_declarations(stack_dir: Path) -> tuple[Declaration, ...]:
    """Return what a stack declares, by file and line; an override's repetition comes later.

    Raises:
        VariableError: A variable is declared outside of the variable files.
    """
    found: list[Declaration] = []
    for path in sorted((*stack_dir.glob("*.tf"), *stack_dir.glob("*.tf.json"))):
        declared = scan_declarations(path)
        if declared and not any(fnmatch(path.name, form) for form in _DECLARING):
            first = declared[0]
            msg = f"{path}:{first.line}: variable {first.name!r} declared outside of variables.tf"
            raise VariableError(msg, hint=f"move it to {path.with_name('variables.tf')}")
        found.extend(declared)
    return tuple(found)


def scan_declarations(path: Path) -> tuple[Declaration, ...]:
    """Return the variables that one file declares, in order."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{path}: byte {error.start} is not UTF-8"
        raise VariableError(msg, hint="save the file as UTF-8") from error
    return tuple(_scan_json(path, text) if path.suffix == ".json" else _scan_native(path, text))


def _scan_native(path: Path, text: str) -> Iterator[Declaration]:
    lines = [line if code else "" for code, line in _code_lines(text)]
    starts = [
        (index, match["name"]) for index, line in enumerate(lines) if (match := _BLOCK.match(line))
    ]
    for (index, name), (end, _) in pairwise([*starts, (len(lines), "")]):
        sensitive = any(_SENSITIVE.match(line) for line in lines[index:end])
        yield Declaration(name=name, path=path, line=index + 1, sensitive=sensitive)


def _code_lines(text: str) -> Iterator[tuple[bool, str]]:
    """Yield every line with whether it is code, and not a heredoc's or a block comment's."""
    tag, comment = "", False
    for line in text.splitlines():
        stripped = line.strip()
        if tag:
            yield False, line
            tag = "" if stripped == tag else tag
        elif comment or stripped.startswith("/*"):
            yield False, line
            comment = "*/" not in stripped
        else:
            yield True, line
            heredoc = _HEREDOC.search(line)
            tag = heredoc["tag"] if heredoc else ""


def _scan_json(path: Path, text: str) -> Iterator[Declaration]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        msg = f"{path}:{error.lineno}: not JSON: {error.msg}"
        raise VariableError(msg, hint="correct the file") from error
    lines = text.splitlines()
    for name, body in _json_variables(document):
        quoted = json.dumps(name)
        line = next((number for number, row in enumerate(lines, 1) if quoted in row), 1)
        sensitive = isinstance(body, dict) and bool(body.get("sensitive"))
        yield Declaration(name=name, path=path, line=line, sensitive=sensitive)


def _json_variables(document: Any) -> Iterator[tuple[str, Any]]:
    declared = document.get("variable", {}) if isinstance(document, dict) else {}
    for block in declared if isinstance(declared, list) else [declared]:
        if isinstance(block, dict):
            yield from block.items()
