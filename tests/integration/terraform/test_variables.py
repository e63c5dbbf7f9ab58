"""A real engine says what a stack's variables are, and why a value is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from harness.errors import VariableError
from harness.terraform.engine import Engine
from harness.terraform.variables import resolve

_VARIABLES = """\
variable "mass_g" {
  type        = number
  default     = 5
  description = "how much"
  validation {
    condition     = var.mass_g > 0
    error_message = "mass_g is ${var.mass_g}, more than 0 needed."
  }
}
variable "sample" {
  type = string
}
variable "token" {
  type      = string
  sensitive = true
  default   = null
  validation {
    condition     = length(coalesce(var.token, "longer")) > 5
    error_message = "too short: ${nonsensitive(coalesce(var.token, "-"))}"
  }
}
variable "instruments" {
  type = map(object({ colour = optional(string, "red"), slots = number }))
  default = {}
}
variable "note" {
  type    = string
  default = <<-EOT
    variable "not_one" {
      he said "100%" and $${left}
  EOT
}
"""

MakeDir = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def make_dir(tmp_path: Path) -> MakeDir:
    def make(files: Mapping[str, str]) -> Path:
        folder = tmp_path / "stacks" / "world"
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        return folder

    return make


def test_values_are_converted_filled_and_kept_null(engine: Engine, make_dir: MakeDir) -> None:
    stack_dir = make_dir({"variables.tf": _VARIABLES, "main.tf": 'provider "nowhere" {}\n'})
    overrides = {"sample": 7, "mass_g": "2.5", "instruments": {"a": {"slots": "3"}}}

    resolved = resolve(engine, stack_dir, overrides)

    assert resolved.stack == "world"
    assert resolved.values == {
        "sample": "7",
        "mass_g": 2.5,
        "instruments": {"a": {"colour": "red", "slots": 3}},
        "token": None,
        "note": 'variable "not_one" {\n  he said "100%" and ${left}\n',
    }
    assert resolved.sensitive == {"token"}
    mass = resolved.declared["mass_g"]
    assert (mass.required, mass.default, mass.description, mass.line) == (False, 5, "how much", 1)
    assert resolved.declared["sample"].required
    assert mass.path == stack_dir / "variables.tf"


def test_values_come_from_tfvars_files_and_overrides_win(engine: Engine, make_dir: MakeDir) -> None:
    stack_dir = make_dir(
        {
            "variables.tf": _VARIABLES,
            "variables_override.tf": 'variable "note" {\n  default = "short"\n}\n',
            "terraform.tfvars": 'sample = "from file"\nmass_g = 1\n',
            "lab.auto.tfvars.json": '{"mass_g": 2}',
        }
    )

    resolved = resolve(engine, stack_dir, {"mass_g": 3})

    assert resolved.values["sample"] == "from file"
    assert resolved.values["mass_g"] == 3
    assert resolved.values["note"] == "short"


def test_a_stack_without_variables_has_none(engine: Engine, make_dir: MakeDir) -> None:
    resolved = resolve(engine, make_dir({"main.tf": ""}), {})

    assert (resolved.declared, resolved.values, resolved.sensitive) == ({}, {}, frozenset())


def test_variables_that_the_scanner_misreads_are_resolved_all_the_same(
    engine: Engine, make_dir: MakeDir
) -> None:
    text = 'variable "a" {\n  default = 1\n}\n# x\nvariable\t"b" { default = 2 }\n'
    hidden = '/* variable\n*/ variable "c" {\n  default = 3\n}\n'
    stack_dir = make_dir({"variables.tf": text + hidden})

    resolved = resolve(engine, stack_dir, {"c": 4})

    assert resolved.values == {"a": 1, "b": 2, "c": 4}


@pytest.mark.parametrize(
    ("overrides", "message", "hint"),
    [
        (
            {"sample": "s", "mass_gram": 1},
            "{dir}: no variable named 'mass_gram'",
            "use 'mass_g'",
        ),
        (
            {"sampel": "s"},
            "{dir}: no variable named 'sampel'",
            "use 'sample'",
        ),
        (
            {},
            "{dir}/variables.tf:10: variable 'sample': a value is required, and none is given",
            "give 'sample' a value",
        ),
        (
            {"sample": "s", "mass_g": "heavy"},
            "{dir}/variables.tf:1: variable 'mass_g': the value does not fit: a number is required",
            "give 'mass_g' another value",
        ),
        (
            {"sample": "s", "mass_g": -1},
            "{dir}/variables.tf:5: variable 'mass_g': mass_g is -1, more than 0 needed",
            "give 'mass_g' another value",
        ),
        (
            {"sample": "s", "token": "abc42"},
            "{dir}/variables.tf:17: variable 'token': too short: (sensitive)",
            "give 'token' another value",
        ),
        (
            {"sample": "s", "instruments": {"a": {"slots": 1, "color": "blue"}}},
            "{dir}/variables.tf:22: variable 'instruments' has no attribute 'instruments.a.color'",
            "correct the attribute's name; Terraform drops it",
        ),
        (
            {"sample": "s", "mass_g": float("nan")},
            "world: the value of variable 'mass_g' cannot be stored: mass_g is not a finite number",
            "use text, finite numbers, booleans, lists or maps",
        ),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_its_place(
    engine: Engine, make_dir: MakeDir, overrides: dict[str, object], message: str, hint: str
) -> None:
    stack_dir = make_dir({"variables.tf": _VARIABLES})

    with pytest.raises(VariableError) as caught:
        resolve(engine, stack_dir, overrides)

    assert str(caught.value) == message.replace("{dir}", str(stack_dir))
    assert caught.value.hint == hint


def test_a_syntax_error_is_refused_with_file_and_line(engine: Engine, make_dir: MakeDir) -> None:
    stack_dir = make_dir({"variables.tf": 'variable "a" {\n  default = \n}\n'})

    with pytest.raises(VariableError) as caught:
        resolve(engine, stack_dir, {})

    assert str(caught.value).startswith(f"{stack_dir}/variables.tf:2: ")


def test_an_ephemeral_variable_is_refused_by_name(engine: Engine, make_dir: MakeDir) -> None:
    text = 'variable "pass" {\n  type = string\n  ephemeral = true\n  default = "x"\n}\n'
    stack_dir = make_dir({"variables.tf": text})

    with pytest.raises(VariableError) as caught:
        resolve(engine, stack_dir, {})

    assert "ephemeral" in str(caught.value)


def test_a_missing_stack_is_refused_with_the_ones_there_are(
    engine: Engine, make_dir: MakeDir
) -> None:
    stack_dir = make_dir({"main.tf": ""})

    with pytest.raises(VariableError) as caught:
        resolve(engine, stack_dir.with_name("planet"), {})

    assert str(caught.value) == f"{stack_dir.with_name('planet')}: no stack named 'planet'"
    assert caught.value.hint == "use one of the stacks: world"


def test_variables_are_found_in_every_file_and_nothing_else_of_it_is_planned(
    engine: Engine, make_dir: MakeDir
) -> None:
    text = 'terraform {\n  required_version = "< 0.1"\n}\nvariable "a" {\n  default = 1\n}\n'
    other = '{"module": {"m": {"source": "./nowhere"}}, "variable": {"b": {"default": [true]}}}'
    stack_dir = make_dir({"main.tf": text, "more.tf.json": other})

    resolved = resolve(engine, stack_dir, {})

    assert resolved.values == {"a": 1, "b": [True]}
    assert [one.line for one in resolved.declared.values()] == [4, 1]


def test_the_ambient_environment_and_the_stack_folder_are_left_alone(
    engine: Engine, make_dir: MakeDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF_VAR_a", "ambient")
    monkeypatch.setenv("TF_CLI_ARGS_plan", "-no-such-flag")
    stack_dir = make_dir({"variables.tf": 'variable "a" {\n  default = "own"\n}\n'})

    resolved = resolve(engine, stack_dir, {})

    assert resolved.values == {"a": "own"}
    assert [path.name for path in stack_dir.iterdir()] == ["variables.tf"]
