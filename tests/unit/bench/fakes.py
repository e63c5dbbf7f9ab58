"""A suite on disk, and a strict stand-in for Terraform's answers about variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.bench.layout import Layout
from harness.bench.loader import LoadedSuite, load_suite
from harness.errors import VariableError
from harness.terraform.variables import ResolvedVariables, Variable

SUITE = """\
name: small
version: "1.0"
description: two tasks
categories: [operate, recover]
tasks:
  - mix
  - settle
briefing: |
  Your namespace is {{ namespace }}.
"""

MIX = """\
id: mix
category: operate
stack: color_lab
variables: { sample_id: { draw: name }, mass_g: 5 }
prompt: |
  Make {{ mass_g }} g of {{ sample_id }}.
checks:
  - { kind: runs_completed, count: 1, description: "{{ sample_id }} was made" }
"""

SETTLE = """\
id: settle
category: recover
stack: color_lab
setup:
  capability: sim.mix_color
  inputs: { total_mass_g: "{{ mass_g }}" }
  cancel_after_seconds: 0.3
prompt: Settle it.
checks:
  - { kind: no_run_awaiting_intervention, description: nothing waits }
"""

CONTROLS = """\
reference:
  mix: { passed: true, score: 1.0 }
  settle: { passed: true, score: 1.0 }
"""

#: Variables of the one stack: name to type and default; None where one must be given.
_DECLARED: dict[str, tuple[type, Any]] = {
    "attempt_id": (str, None),
    "mass_g": (int, 10),
    "namespace": (str, None),
    "run_id": (str, None),
    "sample_id": (str, "a"),
    "token": (str, "secret"),
}


class FakeTerraform:
    """Knows one stack, `color_lab`; refuses what Terraform would, in the words of our runner."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, stack_dir: Path, overrides: Mapping[str, Any]) -> ResolvedVariables:
        """Return the values of the stack's variables with overrides merged."""
        self.asked.append((stack_dir.name, dict(overrides)))
        place = stack_dir / "variables.tf"
        if stack_dir.name != "color_lab":
            msg = f"{stack_dir}: no such stack"
            raise VariableError(msg, hint="stacks here: color_lab")
        for name, value in overrides.items():
            if name not in _DECLARED:
                msg = f"{place}: no variable named {name!r}"
                raise VariableError(msg, hint="did you mean 'mass_g'?")
            if not isinstance(value, _DECLARED[name][0]):
                msg = f"{place}:1: variable {name!r}: a number is required"
                raise VariableError(msg)
        values = {name: default for name, (_, default) in _DECLARED.items()} | dict(overrides)
        assert None not in values.values()
        return ResolvedVariables(
            stack="color_lab",
            declared={name: _variable(name, place) for name in _DECLARED},
            values=values,
            sensitive=frozenset({"token"}),
        )


def _variable(name: str, place: Path) -> Variable:
    default = _DECLARED[name][1]
    return Variable(
        name=name,
        required=default is None,
        sensitive=name == "token",
        default=default,
        description="",
        path=place,
        line=1,
    )


class SuiteFolder:
    """The suite above in a folder, to be changed and loaded."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.directory = root / "tasks" / "small"
        self.terraform = FakeTerraform()
        files = {"suite": SUITE, "mix/task": MIX, "settle/task": SETTLE, "controls": CONTROLS}
        for name, text in files.items():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        control = self.directory / "controls" / "reference"
        control.parent.mkdir()
        control.write_text("#!/bin/sh\n")
        control.chmod(0o755)

    def path(self, name: str) -> Path:
        """Return a file of the suite, by its name without the ending."""
        return self.directory / f"{name}.yaml"

    def change(self, name: str, old: str, new: str) -> None:
        """Replace a text that must be there."""
        text = self.path(name).read_text()
        assert old in text
        self.path(name).write_text(text.replace(old, new, 1))

    def load(self) -> LoadedSuite:
        """Load it with the stand-in."""
        return load_suite(Layout(root=self.root), "small", resolve=self.terraform)
