"""Why a value was refused, in our words: file and line of the declaration, name, reason, no value.

Pure: it reads one diagnostic of Terraform's, or compares what was given with what came back.
`variables` calls it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.errors import VariableError
from harness.terraform.copies import VAR_FILE
from harness.terraform.declarations import Declaration
from harness.terraform.diagnostics import Diagnostic

#: File that is added to a variable copy. Its name sorts last and is no override's.
ASKING_FILE = "zz-effective-values.tf.json"

_PLACE = re.compile(r"\bat (?P<path>[^\s:]+):(?P<line>\d+)")
_UNSUITABLE = re.compile(
    r"not suitable for var\.(?P<name>[^\s.]+) declared at [^\s]+: (?P<why>.+)", re.DOTALL
)
_NAMED = re.compile(r'\bvariable (?:named )?"(?P<name>[^"]+)"')


def refusal(
    stack_dir: Path, declarations: Mapping[str, Declaration], diagnostic: Diagnostic
) -> VariableError:
    """Say in our words where and why Terraform refused. Pure."""
    why = diagnostic.detail.partition("\n\n")[0] or diagnostic.summary
    name = (diagnostic.expression or "").removeprefix("var.").partition(".")[0]
    if unsuitable := _UNSUITABLE.search(diagnostic.detail):
        name, why = unsuitable["name"], f"the value does not fit: {unsuitable['why']}"
    elif named := _NAMED.search(diagnostic.detail):
        name = named["name"]
    path, line = diagnostic.path, diagnostic.line
    if place := _PLACE.search(diagnostic.detail):
        path, line = place["path"], int(place["line"])
    elif path in {VAR_FILE, ASKING_FILE, None}:
        found = declarations.get(name)
        path, line = (found.path.name, found.line) if found else ("variables.tf", 1)
    if not name:
        name = _declared_above(declarations, str(path), line or 1)
    if diagnostic.summary == "No value for required variable":
        why, hint = "a value is required, and none is given", f"give {name!r} a value"
    else:
        hint = f"give {name!r} another value" if name else "correct the file"
    who = f"variable {name!r}: " if name else ""
    text = " ".join(why.split()).rstrip(".")
    return VariableError(
        f"{stack_dir / str(path)}:{line}: {who}{text[:1].lower()}{text[1:]}",
        hint=hint,
    )


def _declared_above(declarations: Mapping[str, Declaration], path: str, line: int) -> str:
    above = [
        found for found in declarations.values() if found.path.name == path and found.line <= line
    ]
    return max(above, key=lambda found: found.line).name if above else ""


def lost_attributes(given: Any, effective: Any, path: str) -> Iterator[str]:
    """Yield the attributes that were given and are not in the effective value. Pure.

    Terraform drops an attribute that an object type does not have, so a misspelt optional() one
    would silently become its default. A list may have become a set, with another order and length.
    """
    if isinstance(given, Mapping) and isinstance(effective, Mapping):
        for key, value in given.items():
            if key in effective:
                yield from lost_attributes(value, effective[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}"
    elif isinstance(given, list) and isinstance(effective, list):
        known = [part for part in effective if isinstance(part, Mapping)]
        for number, value in enumerate(given):
            if isinstance(value, Mapping) and known:
                for key in value.keys() - {name for part in known for name in part}:
                    yield f"{path}[{number}].{key}"
