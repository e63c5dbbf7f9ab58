"""Values of root variables as a person types them: `NAME=TEXT`, and files of JSON or YAML.

A text stays text, and Terraform converts it by the declared type. Refuses to know what a stack
declares. Called by the options that name a stack.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.core.documents import load_document
from harness.errors import ConfigError, VariableError


def parse_assignments(texts: Iterable[str]) -> dict[str, str]:
    """Return name to text of every `NAME=TEXT`. Pure.

    Raises:
        VariableError: One has no `=` or no name, or a name stands twice. The text is not shown.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals:
            # What was meant for a value may be a secret, so only its length is told.
            msg = f"--var: no '=' in a text of {len(text)} characters, expected NAME=TEXT"
            raise VariableError(msg, hint="write --var NAME=TEXT, or use --var-file")
        if not name:
            msg = "--var: no name before '=', expected NAME=TEXT"
            raise VariableError(msg, hint="write --var NAME=TEXT")
        if name in found:
            msg = f"--var: {name!r} is given twice"
            raise VariableError(msg, hint="keep one of them")
        found[name] = value
    return found


def load_values(paths: Iterable[Path]) -> dict[str, Any]:
    """Return name to value of every file, JSON by its suffix and YAML else.

    Raises:
        ConfigError: A file cannot be read, or is no mapping; file and line are named.
        VariableError: A name stands in two files.
    """
    found: dict[str, Any] = {}
    for path in paths:
        if not path.is_file():
            found_there = "is a folder" if path.exists() else "does not exist"
            msg = f"{path}: {found_there}, expected a file of JSON or YAML"
            raise ConfigError(msg, hint="correct --var-file")
        values = _load_json(path) if path.suffix == ".json" else load_document(path).data
        for name in values:
            if name in found:
                msg = f"{path}: {name!r} stands in another --var-file too"
                raise VariableError(msg, hint="keep one of them")
        found |= values
    return found


def merged(texts: Iterable[str], paths: Iterable[Path]) -> dict[str, Any]:
    """Return every value; one that is typed wins over one in a file."""
    return {**load_values(paths), **parse_assignments(texts)}


def _load_json(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(path.read_bytes(), object_pairs_hook=lambda pairs: _once(path, pairs))
    except OSError as error:  # no right to read it
        msg = f"{path}: {error.strerror}"
        raise ConfigError(msg, hint="correct --var-file") from error
    except UnicodeDecodeError as error:
        msg = f"{path}: byte {error.start} is not UTF-8"
        raise ConfigError(msg, hint="save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        msg = f"{path}:{error.lineno}: not JSON: {error.msg}"
        raise ConfigError(msg, hint="correct the file") from error
    except RecursionError as error:
        msg = f"{path}: nested too deeply"
        raise ConfigError(msg, hint="flatten the document") from error
    if not isinstance(value, dict):
        msg = f"{path}:1: not a mapping, expected name to value"
        raise ConfigError(msg, hint='start with {"name": value}')
    return value


def _once(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            msg = f"{path}: {name!r} stands twice"
            raise ConfigError(msg, hint="keep one of them")
        found[name] = value
    return found
