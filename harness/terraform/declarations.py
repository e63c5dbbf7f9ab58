"""Where a stack declares its variables: names, files and lines, for presentation.

A scanner, not an evaluator: it says where to point a reader, which names to ask the engine about,
and which part of the files the engine needs for its answer. What a variable's value is, and whether
it exists, only the engine says (`variables`).
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from harness.errors import VariableError
from harness.terraform.blocks import Block, keep_blocks, scan_blocks
from harness.terraform.json_blocks import keep_json_blocks, scan_json_blocks

#: Ends of the names of configuration files. OpenTofu prefers its own to a `.tf` of the same stem.
_TERRAFORM = (".tf.json", ".tf")
_TOFU = (".tofu.json", ".tofu")

#: Files from which an engine takes values by itself.
_GIVING = ("terraform.tfvars", "terraform.tfvars.json", "*.auto.tfvars", "*.auto.tfvars.json")

#: A default may not refer to anything; a validation may, and of all that it may refer to only the
#: locals need no provider.
_LOCAL = re.compile(r"\blocal\s*\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """One `variable` block.

    Attributes:
        name: The variable.
        path: Its file.
        line: Its first line, from 1.
        sensitive: Whether the block seems to say so; errs towards yes.
        ephemeral: The same for a value that is in no plan.
    """

    name: str
    path: Path
    line: int
    sensitive: bool
    ephemeral: bool = False


def existing_stack(stack_dir: Path) -> Path:
    """Return the folder of a stack that is there.

    Raises:
        VariableError: It is not; the message lists the stacks there are.
    """
    if stack_dir.is_dir() and configuration_files(stack_dir):
        return stack_dir
    beside = sorted(path for path in stack_dir.parent.glob("*") if path.is_dir())
    names = [path.name for path in beside if configuration_files(path)]
    msg = f"{stack_dir}: no stack named {stack_dir.name!r}"
    raise VariableError(msg, hint=nearest_hint(stack_dir.name, names, what="stacks"))


def nearest_hint(name: str, known: Iterable[str], *, what: str) -> str:
    """Return one imperative that names the nearest of `known`, or all of them. Pure."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"use {near[0]!r}"
    return f"use one of the {what}: {', '.join(names)}" if names else f"declare {name!r} first"


def configuration_files(stack_dir: Path, *, engine_name: str | None = None) -> tuple[Path, ...]:
    """Return the files of a root module, overrides last, each kind sorted by name.

    Args:
        stack_dir: The root module.
        engine_name: `terraform` or `tofu`; None takes what either of them would read.
    """
    ends = _TERRAFORM if engine_name == "terraform" else _TERRAFORM + _TOFU
    found = {
        path.name: path
        for path in stack_dir.iterdir()
        if path.name.endswith(ends) and not _ignored(path.name) and path.is_file()
    }
    if engine_name == "tofu":
        for ours, theirs in zip(_TOFU, _TERRAFORM, strict=True):
            for name in [name for name in found if name.endswith(ours)]:
                found.pop(name.removesuffix(ours) + theirs, None)
    return tuple(sorted(found.values(), key=lambda path: (_overrides(path.name), path.name)))


def _ignored(name: str) -> bool:
    """Tell whether an engine passes over a file of this name: an editor's own copy."""
    return name.startswith(".") or name.endswith("~") or (name[0] == "#" and name[-1] == "#")


def _overrides(name: str) -> bool:
    stem = name.removesuffix(".json").rpartition(".")[0]
    return stem == "override" or stem.endswith("_override")


def value_files(stack_dir: Path) -> tuple[Path, ...]:
    """Return the files from which an engine takes values by itself, sorted."""
    return tuple(
        path
        for path in sorted(stack_dir.iterdir())
        if path.is_file() and any(fnmatch(path.name, form) for form in _GIVING)
    )


def find_declarations(
    stack_dir: Path, *, engine_name: str | None = None
) -> tuple[Declaration, ...]:
    """Return what a stack declares, by file and line; an override's repetition comes later.

    Args:
        stack_dir: The root module.
        engine_name: See `configuration_files`.
    """
    files = configuration_files(stack_dir, engine_name=engine_name)
    return tuple(one for path in files for one in scan_declarations(path))


def scan_declarations(path: Path) -> tuple[Declaration, ...]:
    """Return the variables that one file declares, in order.

    Raises:
        VariableError: It is not UTF-8, or is not the JSON that its name promises.
    """
    return tuple(
        Declaration(
            name=block.label,
            path=path,
            line=block.line,
            sensitive=_says(block, "sensitive"),
            ephemeral=_says(block, "ephemeral"),
        )
        for block in _scan(path, _read(path))
        if block.kind == "variable"
    )


def _says(block: Block, attribute: str) -> bool:
    return block.attributes.get(attribute, "false").strip('"') != "false"


def reduced_files(stack_dir: Path, *, engine_name: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of the files that declare variables, with nothing else left in them.

    Every line keeps its number. Locals stay where a variable's validation refers to one.
    """
    texts = {path: _read(path) for path in configuration_files(stack_dir, engine_name=engine_name)}
    declaring = {path: _keep(path, text, {"variable"}) for path, text in texts.items()}
    kinds = {"variable"}
    if any(_LOCAL.search(text) for text in declaring.values()):
        kinds.add("locals")
    for path, text in texts.items():
        kept = _keep(path, text, kinds)
        if kept.strip("{[,]} \n"):
            yield path.name, kept


def _read(path: Path) -> str:
    """Return a file's text as the engine takes it, its line ends as they are."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{path}: byte {error.start} is not UTF-8"
        raise VariableError(msg, hint="save the file as UTF-8") from error
    if path.suffix == ".json":
        _refuse_other_than_json(path, text)
    return text


def _refuse_other_than_json(path: Path, text: str) -> None:
    try:
        json.loads(text, parse_int=str)
    except json.JSONDecodeError as error:
        msg = f"{path}:{error.lineno}: not JSON: {error.msg}"
        raise VariableError(msg, hint="correct the file") from error
    except RecursionError as error:
        msg = f"{path}:1: not JSON: nested too deep"
        raise VariableError(msg, hint="flatten the document") from error


def _scan(path: Path, text: str) -> Iterator[Block]:
    return scan_json_blocks(text) if path.suffix == ".json" else scan_blocks(text)


def _keep(path: Path, text: str, kinds: set[str]) -> str:
    keep = keep_json_blocks if path.suffix == ".json" else keep_blocks
    return keep(text, kinds)
