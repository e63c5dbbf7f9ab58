"""One copy of a module's variables, and what an engine answers about them.

It holds nothing but `variable` blocks and what they need, so no provider and no cluster is asked;
the question is an output that is added. Only `variables` calls it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, write_json
from harness.terraform.command_line import command_line
from harness.terraform.commands import run_command
from harness.terraform.copies import VAR_FILE
from harness.terraform.declarations import (
    Declaration,
    configuration_files,
    reduced_files,
    value_files,
)
from harness.terraform.engine import Engine, engine_environment
from harness.terraform.exactness import exact_decoder
from harness.terraform.outcomes import TerraformOutcomeError

#: File that is added to a variable copy. Its name sorts last and is no override's.
ASKING_FILE = "zz-effective-values.tf.json"

#: Output that is added to the copy.
_ASKING_OUTPUT = "strandline_effective_values"


def write_variable_copy(
    copy: Path, stack_dir: Path, overrides: Mapping[str, Any], *, engine_name: str
) -> None:
    """Write what decides the values, and link what a validation may read beside it."""
    reads_files = False
    for name, text in reduced_files(stack_dir, engine_name=engine_name):
        (copy / name).write_bytes(text.encode())
        reads_files = reads_files or "path." in text
    for path in value_files(stack_dir):
        shutil.copyfile(path, copy / path.name)
    if reads_files:
        left_out = {*configuration_files(stack_dir), *value_files(stack_dir)}
        for path in stack_dir.iterdir():
            if path not in left_out and not _is_made(path.name):
                (copy / path.name).symlink_to(path.absolute())
    write_json(copy / VAR_FILE, dict(overrides), mode=PRIVATE_MODE)


def _is_made(name: str) -> bool:
    """Tell whether an engine made a file of this name; one that is linked could be overwritten."""
    return name.startswith((".", "terraform.tfstate")) or name.endswith(".tfplan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
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
        if declared_in(document).keys() != set(document["asked"]):
            document = self._plan(list(declared_in(document)))
        return document

    def _plan(self, names: Sequence[str]) -> Any:
        # A list, not an object: the engine would write an attribute's name in another form.
        value = [f"${{var.{name}}}" for name in names]
        asked = {_ASKING_OUTPUT: {"sensitive": True, "value": value}}
        write_json(self.copy / ASKING_FILE, {"output": asked} if names else {})
        plan_path = self.copy / "saved.tfplan"
        planned = {"input": False, "lock": False, "refresh": False, "out": str(plan_path)}
        self._run("plan", var_file=str(self.copy / VAR_FILE), json=True, **planned)
        shown = self._run("show", str(plan_path), json=True, no_color=True)
        return {**shown.document("show", decoder=exact_decoder()), "asked": names}

    def _run(self, command: str, *arguments: str, **options: Any) -> Any:
        return run_command(
            command_line(self.engine.path, self.copy, command, *arguments, **options),
            command=f"{self.engine.name} {command}",
            env=engine_environment(self.engine, work_dir=self.copy, extra={}, ambient=os.environ),
            cwd=self.copy,
            timeout_s=self.timeout_s,
            secrets=self.secrets,
        )


def declared_in(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return name to what the engine read of a declaration; `default` is there if it has one."""
    module = document.get("configuration", {}).get("root_module", {})
    declared: dict[str, Any] = module.get("variables", {})
    return declared


def answers_of(document: Mapping[str, Any], names: Sequence[str]) -> dict[str, tuple[Any, Any]]:
    """Return name to type and value."""
    if not names:
        return {}
    answer = document["planned_values"]["outputs"][_ASKING_OUTPUT]
    found = zip(document["asked"], answer["type"][1], answer["value"], strict=True)
    return {name: (kind, value) for name, kind, value in found}
