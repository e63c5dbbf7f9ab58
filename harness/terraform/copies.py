"""The private copy of a stack: its root module, its local modules and the policies they read.

Everything keeps its place relative to everything else, so relative paths inside a module mean the
same. Whatever earlier runs left in the source tree (state, plans, plugins) is left out. What a
module names and is not there is left to `init`, which says so. `stack` calls it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, read_json, write_atomic, write_json
from harness.errors import TerraformError
from harness.terraform.declarations import configuration_files, existing_stack
from harness.terraform.engine import LOCAL_PROVIDERS

#: Name of the exact var file of a copy; `destroy` needs it as much as `plan` does.
VAR_FILE = "vars.tfvars.json"

#: Where the copied tree begins, and the file that names the root module in it. The file is written
#: last: a folder without it holds no whole copy.
_SOURCE = "source"
_COPY_FILE = "copy.json"

#: Only the owner looks inside: the state and the var file hold secrets in plain text.
_PRIVATE_DIR_MODE = 0o700

_LEFT_OUT = (
    *(".terraform", "*.tfstate", "*.tfstate.*", "*.tfplan", ".terraform.tfstate.lock.info"),
    *(".git", ".strandline"),  # a module may be the root of a repository
)

#: A local source begins with ./ or ../ and holds no expression; the second form is JSON's.
_LOCAL_SOURCE = re.compile(r'\bsource"?\s*[=:]\s*"(?P<path>\.\.?(?:/[^"$]*)?)"')


_LOCK_ENTRY = re.compile(r'provider "(?P<source>[^"]+)"')


def make_copy(
    stack_dir: Path, policies_dir: Path | None, work_dir: Path, values: Mapping[str, Any]
) -> Path:
    """Copy a stack into an empty or absent folder and return the copy's root module.

    Args:
        stack_dir: The root module.
        policies_dir: Folder of policies, each a folder with a `policy.yaml`; None for none.
        work_dir: Where the copy goes.
        values: What its var file holds.

    Raises:
        VariableError: There is no such stack.
        TerraformError: `work_dir` holds something already.
    """
    root_module, *others = local_modules(existing_stack(stack_dir))
    work_dir.mkdir(mode=_PRIVATE_DIR_MODE, parents=True, exist_ok=True)
    work_dir.chmod(_PRIVATE_DIR_MODE)
    if (work_dir / VAR_FILE).exists() or (work_dir / _SOURCE).exists():
        msg = f"{work_dir}: holds a stack already, expected an empty folder"
        raise TerraformError(msg, hint="destroy that stack first, then choose another folder")
    write_json(work_dir / VAR_FILE, dict(values), mode=PRIVATE_MODE)
    modules = (root_module, *others)
    policies = _policies(policies_dir)
    ancestor = _common_folder((*modules, *(path.parent.parent for path in policies)))
    target = work_dir / _SOURCE
    for module in _outermost(modules):
        shutil.copytree(
            module,
            target / module.relative_to(ancestor),
            ignore=_leaving_out(work_dir.resolve()),
            dirs_exist_ok=True,
        )
    for policy in policies:
        copied = target / policy.relative_to(ancestor)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(policy, copied)
    within = Path(_SOURCE, root_module.relative_to(ancestor))
    write_json(work_dir / _COPY_FILE, {"root_module": str(within)}, mode=PRIVATE_MODE)
    return work_dir / within


def holds_copy(work_dir: Path) -> bool:
    """Tell whether a folder holds a whole copy; of one copied half-way nothing was ever applied."""
    return all((work_dir / name).is_file() for name in (_COPY_FILE, VAR_FILE))


def find_copy(work_dir: Path) -> Path:
    """Return the root module of a copy that is there.

    Raises:
        TerraformError: The folder holds no whole copy of a stack.
    """
    if not holds_copy(work_dir):
        msg = f"{work_dir}: no whole copy of a stack, expected {_COPY_FILE} and {VAR_FILE}"
        raise TerraformError(msg, hint="name the folder that the stack was created in")
    return work_dir / str(read_json(work_dir / _COPY_FILE)["root_module"])


def local_modules(root_module: Path) -> tuple[Path, ...]:
    """Return the root module, then every folder that it, or one of these, names as a local source.

    Links are followed as a reader of the path would, so that a linked tree keeps its place beside
    what is not linked; where a source is only beside the link's target, that is the tree.
    A line scan: a source in a comment counts too, and copies a folder that nobody asks for.
    """
    as_named, missing = _walk(_plain(root_module))
    if missing:
        as_linked, still_missing = _walk(root_module.resolve())
        if len(still_missing) < len(missing):
            return as_linked
    return as_named


def _walk(root_module: Path) -> tuple[tuple[Path, ...], frozenset[Path]]:
    """Return the modules that are there, the root first, and the places where one is missing."""
    found: dict[Path, None] = {}
    missing: set[Path] = set()
    waiting = [root_module]
    while waiting:
        module = waiting.pop()
        if not module.is_dir():
            missing.add(module)
        elif module not in found:
            found[module] = None
            waiting.extend(_plain(module / source) for source in _sources(module))
    return (root_module, *sorted(found.keys() - {root_module})), frozenset(missing)


def _plain(path: Path) -> Path:
    """Return an absolute path without dots, its links as they are."""
    return Path(os.path.normpath(path.absolute()))


def drop_local_locks(root_module: Path) -> None:
    """Drop the entries of providers that may be built locally from a lock file. Idempotent."""
    path = root_module / ".terraform.lock.hcl"
    if not path.is_file():
        return
    kept: list[str] = []
    dropping = False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True):
        if entry := _LOCK_ENTRY.match(line):
            dropping = entry["source"] in LOCAL_PROVIDERS
        if not dropping:
            kept.append(line)
    write_atomic(path, "".join(kept).encode())


def _sources(module: Path) -> Iterator[str]:
    for path in configuration_files(module):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield from (match["path"] for match in _LOCAL_SOURCE.finditer(text))


def _policies(policies_dir: Path | None) -> tuple[Path, ...]:
    if policies_dir is None:
        return ()
    return tuple(sorted(_plain(policies_dir).glob("*/policy.yaml")))


def _common_folder(folders: Iterable[Path]) -> Path:
    return Path(os.path.commonpath([str(folder) for folder in folders]))


def _outermost(modules: Iterable[Path]) -> tuple[Path, ...]:
    """Leave out what lies inside another one and is copied with it. Pure."""
    every = set(modules)
    return tuple(sorted(one for one in every if not every.intersection(one.parents)))


def _leaving_out(work_dir: Path) -> Callable[[str, list[str]], set[str]]:
    """Return what `copytree` asks: a copy below the tree that is copied must not copy itself."""
    by_form = shutil.ignore_patterns(*_LEFT_OUT)

    def left_out(folder: str, names: list[str]) -> set[str]:
        own = {name for name in names if Path(folder, name).resolve() == work_dir}
        return by_form(folder, names) | own

    return left_out
