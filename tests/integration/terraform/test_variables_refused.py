"""What either engine refuses is refused with file, line, name and one thing to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.errors import VariableError
from harness.terraform.engine import Engine
from harness.terraform.variables import resolve

#: One module for the refusals of values; the fault of each case is in what is given.
_VARIABLES = """\
variable "count_of" {
  type = number # {
}
variable "shape" {
  type = object({
    edge_mm = number
    colour  = optional(string, "red") # "}"
    inner   = optional(object({ note = optional(string, "none"), depth = optional(number) }))
  })
  default = { edge_mm = 1 }
}
variable "never_null" {
  type     = string
  nullable = false
  default  = "x"
}
variable "never_null_nor_absent" {
  type     = string
  nullable = false
}
variable "pairs" {
  type    = set(object({ a = string }))
  default = []
}
variable "code" {
  type      = string
  sensitive = true
  default   = "abcdef"
  validation {
    condition     = length(var.code) > local.least
    error_message = "the code is too short."
  }
}
locals {
  least = length(file("${path.module}/least.txt"))
}
resource "nowhere_thing" "x" {
  name = var.code
}
"""

_GIVEN = {"count_of": 1, "never_null_nor_absent": "x"}

_FIT = "the value does not fit: "

MakeDir = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def make_dir(tmp_path: Path) -> MakeDir:
    def make(files: Mapping[str, str]) -> Path:
        folder = tmp_path / "my stacks" / "world"
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        return folder

    return make


@pytest.mark.parametrize(
    ("given", "expected", "hint"),
    [
        ({"count_off": 1}, ": no variable named 'count_off'", "use 'count_of'"),
        (
            {"count_of": "{}"},
            f"/main.tf:1: variable 'count_of': {_FIT}a number is required",
            "give 'count_of' another value",
        ),
        (
            {"shape": "{}"},
            f"/main.tf:4: variable 'shape': {_FIT}object required",
            "give 'shape' another value",
        ),
        (
            {"shape": {"colour": "blue"}},
            f"/main.tf:4: variable 'shape': {_FIT}attribute \"edge_mm\" is required",
            "give 'shape' another value",
        ),
        (
            {"shape": {"edge_mm": 1, "inner": {"not": "x"}}},
            "/main.tf:4: variable 'shape' has no attribute 'shape.inner.not'",
            "correct the attribute's name; Terraform drops it",
        ),
        (
            {"pairs": [{"a": "x"}, {"a": "y", "b": "z"}]},
            "/main.tf:21: variable 'pairs' has no attribute 'pairs[1].b'",
            "correct the attribute's name; Terraform drops it",
        ),
        (
            {"never_null_nor_absent": None},
            (
                f"/main.tf:17: variable 'never_null_nor_absent': {_FIT}"
                "required variable may not be set to null"
            ),
            "give 'never_null_nor_absent' another value",
        ),
        (
            {"code": "s3c"},
            "/main.tf:29: variable 'code': the code is too short",
            "give 'code' another value",
        ),
    ],
)
def test_a_value_that_an_engine_refuses_is_refused_by_name_and_line(
    any_engine: Engine,
    make_dir: MakeDir,
    given: dict[str, Any],
    expected: str,
    hint: str,
) -> None:
    stack_dir = make_dir({"main.tf": _VARIABLES, "least.txt": "abcd"})

    with pytest.raises(VariableError) as caught:
        resolve(any_engine, stack_dir, {**_GIVEN, **given})

    # OpenTofu says more of what it found than Terraform.
    assert str(caught.value).startswith(f"{stack_dir}{expected}")
    assert caught.value.hint == hint


def test_absent_and_null_and_nested_defaults_are_what_the_engine_makes_of_them(
    any_engine: Engine, make_dir: MakeDir
) -> None:
    stack_dir = make_dir({"main.tf": _VARIABLES, "least.txt": "abcd"})
    shape = {"edge_mm": "08", "colour": None, "inner": {"note": None}}
    text = 'a="b;" ${x} %{y} 3e24567 \r\n\t\\'

    resolved = resolve(
        any_engine,
        stack_dir,
        {
            "count_of": 2**53 + 1,
            "never_null": None,
            "never_null_nor_absent": text,
            "shape": shape,
            "pairs": [{"a": "y"}, {"a": "x"}, {"a": "y"}],
        },
    )

    assert resolved.values == {
        "count_of": 2**53 + 1,
        "never_null": "x",
        "never_null_nor_absent": text,
        "shape": {"edge_mm": 8, "colour": "red", "inner": {"note": "none", "depth": None}},
        "pairs": [{"a": "x"}, {"a": "y"}],
        "code": "abcdef",
    }
    assert [name for name, one in resolved.declared.items() if one.required] == [
        "count_of",
        "never_null_nor_absent",
    ]
    assert resolved.declared["pairs"].kind == ["set", ["object", {"a": "string"}]]
    assert resolved.visible.keys() == resolved.values.keys() - {"code"}
    assert "abcdef" not in repr(resolved)


@pytest.mark.parametrize(
    ("block", "expected", "hint"),
    [
        (
            'variable "a" {\n  default = 1\n}',
            (
                "4: variable 'a': a variable named \"a\" was already declared at main.tf:1,1-13. "
                "Variable names must be unique within a module"
            ),
            "correct the file",
        ),
        (
            'variable "b" {\n  default = upper("x")\n}',
            "5: variable 'b': functions may not be called here",
            "correct the file",
        ),
        (
            'variable "b" {\n  default = var.a\n}',
            "5: variable 'b': variables may not be used here",
            "correct the file",
        ),
        (
            'variable "b" {\n  type = number\n  default = "x"\n}',
            (
                "6: variable 'b': this default value is not compatible with the variable's type "
                "constraint: a number is required"
            ),
            "correct the file",
        ),
        (
            'variable "b" {\n}',
            "4: variable 'b': a value is required, and none is given",
            "give 'b' a value",
        ),
        (
            'variable "b" {\n  default = [0.5, 1 / 3]\n}',
            "4: variable 'b': b[1] has more digits than a double has, and would be rounded",
            "write fewer digits, or declare it as a string",
        ),
        (
            'variable "b" {\n  default = { long = 1e4400 }\n}',
            "4: variable 'b': b.long has more digits than a double has, and would be rounded",
            "write fewer digits, or declare it as a string",
        ),
    ],
)
def test_a_declaration_that_cannot_be_used_is_refused_by_its_line(
    any_engine: Engine, make_dir: MakeDir, block: str, expected: str, hint: str
) -> None:
    stack_dir = make_dir({"main.tf": f'variable "a" {{\n  default = 1\n}}\n{block}\n'})

    with pytest.raises(VariableError) as caught:
        resolve(any_engine, stack_dir, {})

    assert (str(caught.value), caught.value.hint) == (f"{stack_dir}/main.tf:{expected}", hint)


def test_an_ephemeral_value_is_refused_by_name_where_the_engine_knows_such(
    any_engine: Engine, make_dir: MakeDir
) -> None:
    text = (
        'variable "a" {\n  default = 1\n}\nvariable "b" {\n  ephemeral = true\n  default = 1\n}\n'
    )
    stack_dir = make_dir({"main.tf": text})

    with pytest.raises(VariableError) as caught:
        resolve(any_engine, stack_dir, {})

    assert str(caught.value) == (
        f"{stack_dir}/main.tf:4: variable 'b': it is ephemeral, so no plan holds its value"
    )
    assert caught.value.hint == "declare it sensitive instead"


def test_a_validation_that_looks_at_more_than_variables_says_so(
    any_engine: Engine, make_dir: MakeDir
) -> None:
    rule = 'condition = data.x.y.id == var.a\n    error_message = "no"'
    stack_dir = make_dir(
        {"main.tf": f'variable "a" {{\n  default = 1\n  validation {{\n    {rule}\n  }}\n}}\n'}
    )

    with pytest.raises(VariableError) as caught:
        resolve(any_engine, stack_dir, {})

    assert str(caught.value).startswith(
        f"{stack_dir}/main.tf:4: variable 'a': what it refers to is no variable and no local: "
    )
    assert caught.value.hint == "move the check into a precondition or a check block"


def test_the_files_that_only_opentofu_reads_count_for_opentofu_alone(
    any_engine: Engine, make_dir: MakeDir
) -> None:
    stack_dir = make_dir(
        {
            "main.tf": 'variable "a" {\n  default = "terraform"\n}\n',
            "main.tofu": '\nvariable "a" {\n  default = "tofu"\n}\n',
        }
    )

    resolved = resolve(any_engine, stack_dir, {})

    assert resolved.values == {"a": any_engine.name}
    assert resolved.declared["a"].line == {"terraform": 1, "tofu": 2}[any_engine.name]


def test_ambient_settings_of_an_engine_have_no_say(
    any_engine: Engine, make_dir: MakeDir, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.log"
    ambient = {
        "TF_VAR_a": "ambient",
        "TF_CLI_ARGS": "-no-such-flag",
        "TF_CLI_ARGS_plan": "-var=a=ambient",
        "TF_WORKSPACE": "elsewhere",
        "TF_DATA_DIR": str(tmp_path / "data"),
        "TF_LOG": "TRACE",
        "TF_LOG_PATH": str(trace),
        "TF_CLI_CONFIG_FILE": str(tmp_path / "none.tfrc"),
    }
    for name, value in ambient.items():
        monkeypatch.setenv(name, value)
    stack_dir = make_dir({"main.tf": 'variable "a" {\n  default = "own"\n}\n'})

    resolved = resolve(any_engine, stack_dir, {})

    assert resolved.values == {"a": "own"}
    assert not trace.exists()
    assert [path.name for path in stack_dir.iterdir()] == ["main.tf"]
