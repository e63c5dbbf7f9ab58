"""Names and values of a stack's variables, exactly as Terraform itself sees them.

A copy that holds only the `variable` blocks is planned with the overrides, with no provider and no
cluster; nothing of HCL is evaluated here. Values and types are read from an output that is added to
the copy: the `variables` of a plan's JSON hold what was passed in, before types and optional()
applied. A number that Python cannot hold to the last digit is refused, never rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.core.scratch import scratch_folder
from harness.errors import VariableError
from harness.terraform.asking import Asking, answers_of, declared_in, write_variable_copy
from harness.terraform.declarations import (
    Declaration,
    existing_stack,
    find_declarations,
    nearest_hint,
)
from harness.terraform.diagnostics import secret_texts
from harness.terraform.engine import Engine
from harness.terraform.exactness import (
    inexact_places,
    lost_attributes,
    unstorable_reasons,
)
from harness.terraform.outcomes import Outcome, TerraformOutcomeError
from harness.terraform.refusals import refusal

#: Seconds for one plan of a variable copy; it takes 0.1 s.
RESOLVE_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One variable of a root module.

    Attributes:
        name: Its name.
        required: Whether it has no default; a default of null is a default.
        sensitive: Whether its value may not be shown.
        default: As Terraform converted it; None also when there is none.
        kind: Type of the effective value as Terraform writes it, for example `["list", "string"]`.
        description: May be empty.
        path: File of its declaration.
        line: First line of it, from 1.
    """

    name: str
    required: bool
    sensitive: bool
    default: Any = field(repr=False)
    kind: Any = "dynamic"
    description: str
    path: Path
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedVariables:
    """What a stack declares, and what the values are with the overrides merged.

    Attributes:
        stack: Name of the stack.
        declared: Name to declaration, sorted by name.
        values: Name to effective value: converted to its type, optional() filled, null kept.
        sensitive: Names whose values may not be shown.
    """

    stack: str
    declared: Mapping[str, Variable]
    values: Mapping[str, Any] = field(repr=False)
    sensitive: frozenset[str]

    @property
    def visible(self) -> dict[str, Any]:
        """Name to value of those that may stand in a prompt, a check or a report."""
        return {name: value for name, value in self.values.items() if name not in self.sensitive}


def resolve(
    engine: Engine,
    stack_dir: Path,
    overrides: Mapping[str, Any],
    *,
    timeout_s: float = RESOLVE_TIMEOUT_S,
) -> ResolvedVariables:
    """Return what Terraform says a stack's variables are, with `overrides` merged.

    Args:
        engine: What is asked.
        stack_dir: The root module; nothing is written there.
        overrides: Name to JSON value.
        timeout_s: Bound of each command in seconds.

    Raises:
        VariableError: The stack is missing; an override names no variable, has a type or an
            attribute that the variable has not, or breaks its validation; a value is missing.
        TerraformOutcomeError: The engine itself broke.
    """
    existing_stack(stack_dir)
    _refuse_unstorable(stack_dir, overrides)
    scanned = find_declarations(stack_dir, engine_name=engine.name)
    declarations: dict[str, Declaration] = {}
    for found in scanned:
        declarations.setdefault(found.name, found)
    sensitive = {found.name for found in scanned if found.sensitive}
    with scratch_folder("variables") as copy:
        write_variable_copy(copy, stack_dir, overrides, engine_name=engine.name)
        asking = Asking(
            engine=engine,
            copy=copy,
            timeout_s=timeout_s,
            secrets=secret_texts(overrides[name] for name in sensitive & overrides.keys()),
        )
        try:
            document = asking.ask(declarations)
        except TerraformOutcomeError as error:
            if error.outcome is not Outcome.FAILED or not error.diagnostics:
                raise
            _refuse_undeclared(stack_dir, overrides, declarations)
            raise refusal(stack_dir, scanned, error.diagnostics[0]) from error
    wire = declared_in(document)
    _refuse_undeclared(stack_dir, overrides, wire)
    answers = answers_of(document, list(wire))
    declared = {
        name: _variable(stack_dir, name, wire[name], answers[name][0], declarations.get(name))
        for name in sorted(wire)
    }
    _refuse_changed(declared, overrides, {name: value for name, (_, value) in answers.items()})
    return ResolvedVariables(
        stack=stack_dir.name,
        declared=declared,
        values={name: answers[name][1] for name in declared},
        sensitive=frozenset(name for name, variable in declared.items() if variable.sensitive),
    )


def _variable(
    stack_dir: Path, name: str, wire: Mapping[str, Any], kind: Any, found: Declaration | None
) -> Variable:
    return Variable(
        name=name,
        required="default" not in wire,
        sensitive=bool(wire.get("sensitive")),
        default=wire.get("default"),
        kind=kind,
        description=wire.get("description", ""),
        path=found.path if found else stack_dir / "variables.tf",
        line=found.line if found else 1,
    )


def _refuse_changed(
    declared: Mapping[str, Variable], overrides: Mapping[str, Any], values: Mapping[str, Any]
) -> None:
    """Refuse what would silently not be what was given, or not be what the engine has."""
    for name, variable in declared.items():
        where = f"{variable.path}:{variable.line}: variable {name!r}"
        for place in inexact_places(values[name], name):
            msg = f"{where}: {place} has more digits than a double has, and would be rounded"
            raise VariableError(msg, hint="write fewer digits, or declare it as a string")
        for lost in lost_attributes(overrides.get(name), variable.kind, name):
            msg = f"{where} has no attribute {lost!r}"
            raise VariableError(msg, hint="correct the attribute's name; Terraform drops it")


def _refuse_unstorable(stack_dir: Path, overrides: Mapping[str, Any]) -> None:
    for name, value in overrides.items():
        for reason in unstorable_reasons(value, name):
            msg = f"{stack_dir.name}: the value of variable {name!r} cannot be stored: {reason}"
            raise VariableError(msg, hint="use text, finite numbers, booleans, lists or maps")


def _refuse_undeclared(
    stack_dir: Path, overrides: Mapping[str, Any], declared: Mapping[str, Any]
) -> None:
    """Terraform only warns about a name in a var file that nothing declares."""
    for name in sorted(overrides.keys() - declared.keys()):
        msg = f"{stack_dir}: no variable named {name!r}"
        raise VariableError(msg, hint=nearest_hint(name, declared, what="declared"))
