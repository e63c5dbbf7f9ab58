"""Names and values of a stack's variables, exactly as Terraform itself sees them.

A copy that holds only the variable files is planned with the overrides, with no provider and no
cluster; nothing of HCL is evaluated here. The values are read from an output that is added to the
copy: the `variables` of a plan's JSON hold what was passed in, before types and optional() applied.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, write_json
from harness.core.scratch import scratch_folder
from harness.errors import VariableError
from harness.terraform.command_line import command_line
from harness.terraform.commands import run_command
from harness.terraform.copies import VAR_FILE
from harness.terraform.declarations import (
    Declaration,
    existing_stack,
    find_declarations,
    nearest_hint,
    variable_files,
)
from harness.terraform.diagnostics import secret_texts
from harness.terraform.engine import Engine, engine_environment
from harness.terraform.outcomes import Outcome, TerraformOutcomeError
from harness.terraform.refusals import ASKING_FILE, lost_attributes, refusal

#: Seconds for one plan of a variable copy; it takes 0.1 s.
RESOLVE_TIMEOUT_S = 60.0

#: Output that is added to the copy.
_ASKING_OUTPUT = "strandline_effective_values"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One variable of a root module.

    Attributes:
        name: Its name.
        required: Whether it has no default; a default of null is a default.
        sensitive: Whether its value may not be shown.
        default: As Terraform converted it; None also when there is none.
        description: May be empty.
        path: File of its declaration.
        line: First line of it, from 1.
    """

    name: str
    required: bool
    sensitive: bool
    default: Any
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
    values: Mapping[str, Any]
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
    declarations: dict[str, Declaration] = {}
    for found in find_declarations(stack_dir):
        declarations.setdefault(found.name, found)
    _refuse_unstorable(stack_dir, overrides)
    sensitive = {found.name for found in find_declarations(stack_dir) if found.sensitive}
    secrets = secret_texts(overrides[name] for name in sensitive & overrides.keys())
    with scratch_folder("variables") as copy:
        for path in variable_files(stack_dir):
            shutil.copyfile(path, copy / path.name)
        write_json(copy / VAR_FILE, dict(overrides), mode=PRIVATE_MODE)
        asking = _Asking(engine=engine, copy=copy, timeout_s=timeout_s, secrets=secrets)
        try:
            document = asking.ask(declarations)
        except TerraformOutcomeError as error:
            if error.outcome is not Outcome.FAILED or not error.diagnostics:
                raise
            _refuse_undeclared(stack_dir, overrides, declarations)
            raise refusal(stack_dir, declarations, error.diagnostics[0]) from error
    declared = {
        name: _variable(stack_dir, name, wire, declarations.get(name))
        for name, wire in sorted(_declared(document).items())
    }
    _refuse_undeclared(stack_dir, overrides, declared)
    outputs = document["planned_values"].get("outputs", {})
    values: dict[str, Any] = outputs[_ASKING_OUTPUT]["value"] if declared else {}
    for name, given in overrides.items():
        for lost in lost_attributes(given, values[name], name):
            place = declared[name]
            msg = f"{place.path}:{place.line}: variable {name!r} has no attribute {lost!r}"
            raise VariableError(msg, hint="correct the attribute's name; Terraform drops it")
    return ResolvedVariables(
        stack=stack_dir.name,
        declared=declared,
        values=values,
        sensitive=frozenset(name for name, variable in declared.items() if variable.sensitive),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """One variable copy, and the commands that ask about it."""

    engine: Engine
    copy: Path
    timeout_s: float
    secrets: frozenset[str]

    def ask(self, scanned: Mapping[str, Declaration]) -> Any:
        """Return the plan's JSON, asked about the scanned names, or about those it has really."""
        try:
            document = self._plan(list(scanned))
        except TerraformOutcomeError as error:
            if not any("undeclared input variable" in found.summary for found in error.diagnostics):
                raise
            document = self._plan([])
        if _declared(document).keys() != scanned.keys():
            document = self._plan(list(_declared(document)))
        return document

    def _plan(self, names: Sequence[str]) -> Any:
        value = {name: f"${{var.{name}}}" for name in names}
        asked = {_ASKING_OUTPUT: {"sensitive": True, "value": value}}
        write_json(self.copy / ASKING_FILE, {"output": asked} if names else {})
        plan_path = self.copy / "saved.tfplan"
        planned = {"input": False, "lock": False, "refresh": False, "out": str(plan_path)}
        self._run("plan", var_file=str(self.copy / VAR_FILE), json=True, **planned)
        return self._run("show", str(plan_path), json=True, no_color=True).document("show")

    def _run(self, command: str, *arguments: str, **options: Any) -> Any:
        return run_command(
            command_line(self.engine.path, self.copy, command, *arguments, **options),
            command=f"{self.engine.name} {command}",
            env=engine_environment(self.engine, work_dir=self.copy, extra={}, ambient=os.environ),
            cwd=self.copy,
            timeout_s=self.timeout_s,
            secrets=self.secrets,
        )


def _declared(document: Mapping[str, Any]) -> dict[str, Any]:
    module = document.get("configuration", {}).get("root_module", {})
    declared: dict[str, Any] = module.get("variables", {})
    return declared


def _variable(
    stack_dir: Path, name: str, wire: Mapping[str, Any], found: Declaration | None
) -> Variable:
    return Variable(
        name=name,
        required="default" not in wire,
        sensitive=bool(wire.get("sensitive")),
        default=wire.get("default"),
        description=wire.get("description", ""),
        path=found.path if found else stack_dir / "variables.tf",
        line=found.line if found else 1,
    )


def _refuse_unstorable(stack_dir: Path, overrides: Mapping[str, Any]) -> None:
    for name, value in overrides.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            msg = f"{stack_dir.name}: the value of variable {name!r} is not JSON"
            raise VariableError(msg, hint="use text, numbers, booleans, lists or maps") from error


def _refuse_undeclared(
    stack_dir: Path, overrides: Mapping[str, Any], declared: Mapping[str, Any]
) -> None:
    """Terraform only warns about a name in a var file that nothing declares."""
    for name in sorted(overrides.keys() - declared.keys()):
        msg = f"{stack_dir / 'variables.tf'}: no variable named {name!r}"
        raise VariableError(msg, hint=nearest_hint(name, declared, what="declared"))
