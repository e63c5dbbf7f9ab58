"""Why a value was refused, in our words: file and line of the declaration, name, reason, no value.

Pure: it reads one diagnostic of the engine's. `variables` calls it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from harness.errors import VariableError
from harness.terraform.asking import ASKING_FILE
from harness.terraform.copies import VAR_FILE
from harness.terraform.declarations import Declaration
from harness.terraform.diagnostics import Diagnostic

_PLACE = re.compile(
    r"(?:var\.\S+ (?:declared|defined)|rule) at (?P<path>[^:\n]+):(?P<line>\d+)[,-]"
)
_UNSUITABLE = re.compile(
    r"not suitable for var\.(?P<name>[^\s,]+)"
    r"(?: (?:declared|defined) at .+?:\d+[\d,-]*|, which is sensitive): "
    # What follows of a sensitive value is its place in the var file of a copy.
    r"(?P<why>.+?)(?:\. Invalid value defined at .*)?$",
    re.DOTALL,
)
_NAMED = re.compile(r'\bvariable (?:named )?"(?P<name>[^"]+)"')

#: A validation may look at anything of its module; here is nothing but variables and locals.
_BEYOND = frozenset({"Reference to undeclared resource", "Reference to undeclared module"})


def refusal(
    stack_dir: Path, declarations: Iterable[Declaration], diagnostic: Diagnostic
) -> VariableError:
    """Say in our words where and why the engine refused. Pure.

    Args:
        stack_dir: The root module.
        declarations: All of it, in the order of the files.
        diagnostic: What the engine said first.
    """
    found = list(declarations)
    why = diagnostic.detail.partition("\n\n")[0] or diagnostic.summary
    name = (diagnostic.expression or "").removeprefix("var.").partition(".")[0]
    if unsuitable := _UNSUITABLE.search(diagnostic.detail):
        name, why = unsuitable["name"], f"the value does not fit: {unsuitable['why']}"
    elif named := _NAMED.search(diagnostic.detail):
        name = named["name"]
    elif _is_ephemeral(diagnostic):
        name = next((one.name for one in found if one.ephemeral), name)
    path, line = diagnostic.path, diagnostic.line
    if place := _PLACE.search(diagnostic.detail):
        path, line = place["path"], int(place["line"])
    elif path in {VAR_FILE, ASKING_FILE, None}:
        declared = next((one for one in found if one.name == name), None)
        path, line = (declared.path.name, declared.line) if declared else ("variables.tf", 1)
    if not any(one.name == name for one in found):
        name = _declared_above(found, str(path), line or 1)
    why, hint = _words(diagnostic, why, name)
    who = f"variable {name!r}: " if name else ""
    text = " ".join(why.split()).rstrip(".")
    return VariableError(
        f"{stack_dir / str(path)}:{line}: {who}{text[:1].lower()}{text[1:]}",
        hint=hint,
    )


def _words(diagnostic: Diagnostic, why: str, name: str) -> tuple[str, str]:
    """Return the reason and the one imperative."""
    if diagnostic.summary == "No value for required variable":
        return "a value is required, and none is given", f"give {name!r} a value"
    if _is_ephemeral(diagnostic):
        return "it is ephemeral, so no plan holds its value", "declare it sensitive instead"
    if diagnostic.summary in _BEYOND:
        hint = "move the check into a precondition or a check block"
        return f"what it refers to is no variable and no local: {why}", hint
    of_a_value = diagnostic.path in {VAR_FILE, ASKING_FILE, None} or (
        diagnostic.summary.startswith(("Invalid value for", "Required variable not set"))
    )
    return why, f"give {name!r} another value" if of_a_value and name else "correct the file"


def _is_ephemeral(diagnostic: Diagnostic) -> bool:
    """Each engine has its own words for an output that holds an ephemeral value."""
    return diagnostic.path == ASKING_FILE and "ephemeral" in diagnostic.detail


def _declared_above(declarations: Iterable[Declaration], path: str, line: int) -> str:
    above = [one for one in declarations if one.path.name == path and one.line <= line]
    return max(above, key=lambda one: one.line).name if above else ""
