"""The controls of a suite as functions: each executable names the `act` that it calls.

A control is a file of a few lines without a suffix that imports `act` from a module beside it. The
module is imported as the control itself would, with its folder first on the path.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.virtual.attempt import Act
from tests.virtual.lab import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """The controls of one folder.

    Attributes:
        acts: Name of a control to what it does.
        refusal: What their door raises for a refusal.
    """

    acts: dict[str, Act]
    refusal: Refusal


def load_acts(directory: Path) -> Controls:
    """Import every control of a folder.

    Raises:
        ValueError: An executable imports no `act`.
    """
    names = {path.name: _module_of(path) for path in sorted(directory.iterdir()) if _is_one(path)}
    with _first_on_path(directory):
        modules = {name: _imported(name, directory) for name in {*names.values(), "lab"}}
    refusal: Any = modules["lab"].Refused
    return Controls(
        acts={name: modules[module].act for name, module in names.items()}, refusal=refusal
    )


def _is_one(path: Path) -> bool:
    return path.is_file() and not path.suffix


def _module_of(path: Path) -> str:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and any(one.name == "act" for one in node.names):
            return str(node.module)
    msg = f"{path}: imports no act"
    raise ValueError(msg)


def _imported(name: str, directory: Path) -> ModuleType:
    """Import a module by its short name, as its neighbours import it, and keep nothing else so."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, directory / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def _first_on_path(directory: Path) -> Iterator[None]:
    """Import from a folder; afterwards its modules are known to nobody by their short names."""
    before = {name: sys.modules.pop(name, None) for name in _stems(directory)}
    sys.path.insert(0, str(directory))
    wrote = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = wrote
        sys.path.remove(str(directory))
        for name, module in before.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


def _stems(directory: Path) -> list[str]:
    return [path.stem for path in directory.glob("*.py")]
