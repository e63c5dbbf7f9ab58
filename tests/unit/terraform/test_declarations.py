"""Where variables are declared: a scan for presentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import VariableError
from harness.terraform.declarations import (
    configuration_files,
    existing_stack,
    find_declarations,
    nearest_hint,
    reduced_files,
    scan_declarations,
    value_files,
)

_NATIVE = """\
\ufeffvariable "plain" {}
variable bare {
  default = <<-EOT
    variable "in_a_heredoc" {
    EOT
}
/* variable "in_a_comment" {
*/
# variable "in_a_line" {
variable "hidden" {
  # sensitive = true, no
  sensitive   = true
}
  variable "naïve-name"{
  # sensitive = true
  }
"""


def test_native_declarations_are_found_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "variables.tf"
    path.write_text(_NATIVE)

    found = [(one.name, one.line, one.sensitive) for one in scan_declarations(path)]

    assert found == [
        ("plain", 1, False),
        ("bare", 2, False),
        ("hidden", 10, True),
        ("naïve-name", 14, False),
    ]


@pytest.mark.parametrize("wrap", ['{"variable": %s}', '{"variable": [%s]}'])
def test_json_declarations_are_found_with_their_lines(tmp_path: Path, wrap: str) -> None:
    path = tmp_path / "variables.tf.json"
    path.write_text(wrap % '{\n"a": {"default": 1},\n"b": {"sensitive": true}}')

    found = [(one.name, one.line, one.sensitive) for one in scan_declarations(path)]

    assert found == [("a", 2, False), ("b", 3, True)]


def test_only_files_that_give_values_by_themselves_are_value_files(tmp_path: Path) -> None:
    kept = ["lab.auto.tfvars", "lab.auto.tfvars.json", "terraform.tfvars", "terraform.tfvars.json"]
    for name in (*kept, "main.tf", "other.tfvars", "auto.tfvars.md", "variables.tf"):
        (tmp_path / name).touch()

    assert [path.name for path in value_files(tmp_path)] == kept


@pytest.mark.parametrize(
    ("engine_name", "expected"),
    [
        ("terraform", ["a.tf", "a.tf.json", "z.tf", "b_override.tf", "override.tf.json"]),
        ("tofu", ["a.tf.json", "a.tofu", "z.tf", "z.tofu.json", "b_override.tofu"]),
    ],
)
def test_each_engine_s_files_are_the_ones_that_it_reads(
    tmp_path: Path, engine_name: str, expected: list[str]
) -> None:
    overrides = ["b_override.tf", "b_override.tofu", "override.tf.json"]
    ignored = [".a.tf", "#a.tf#", "a.tf~", "a.tfvars", "a.tftest.hcl"]
    for name in ("a.tf", "a.tofu", "a.tf.json", "z.tf", "z.tofu.json", *overrides, *ignored):
        (tmp_path / name).touch()
    (tmp_path / "folder.tf").mkdir()

    found = configuration_files(tmp_path, engine_name=engine_name)

    assert [path.name for path in found][: len(expected)] == expected


def test_a_declaration_may_stand_in_any_file(tmp_path: Path) -> None:
    (tmp_path / "variables.tf").write_text('variable "a" {}\n')
    (tmp_path / "main.tf.json").write_text('{"variable": {"b": {"ephemeral": true}}}')
    (tmp_path / "a_override.tf").write_text('variable "a" {\n  sensitive = "true"\n}\n')

    found = find_declarations(tmp_path)

    assert [(one.name, one.path.name, one.sensitive, one.ephemeral) for one in found] == [
        ("b", "main.tf.json", False, True),
        ("a", "variables.tf", False, False),
        ("a", "a_override.tf", True, False),
    ]


@pytest.mark.parametrize("refers", [True, False])
def test_locals_are_kept_only_where_a_variable_may_refer_to_one(
    tmp_path: Path, *, refers: bool
) -> None:
    condition = "local.ok" if refers else "true"
    (tmp_path / "main.tf").write_text(
        'provider "x" {\n}\nlocals {\n  ok = true\n}\nvariable "a" {\n  validation {\n'
        f'    condition = {condition}\n    error_message = "no"\n  }}\n}}\n'
    )
    (tmp_path / "more.tf.json").write_text('{"locals": {"more": 1}, "output": {}}')

    texts = dict(reduced_files(tmp_path, engine_name="terraform"))

    assert ("ok = true" in texts["main.tf"], "more.tf.json" in texts) == (refers, refers)
    assert texts["main.tf"].startswith("\n\n")


def test_a_stack_that_is_not_there_is_refused_with_those_beside_it(tmp_path: Path) -> None:
    for name in ("lab/main.tofu", "other/main.tf.json", "empty/readme.md"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()

    with pytest.raises(VariableError) as caught:
        existing_stack(tmp_path / "world")

    assert str(caught.value) == f"{tmp_path}/world: no stack named 'world'"
    assert caught.value.hint == "use one of the stacks: lab, other"
    assert existing_stack(tmp_path / "lab") == tmp_path / "lab"


def test_a_file_that_is_not_json_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "variables.tf.json"
    path.write_text('{\n"variable": }')

    with pytest.raises(VariableError) as caught:
        scan_declarations(path)

    assert str(caught.value) == f"{path}:2: not JSON: Expecting value"


def test_a_number_of_any_length_is_json(tmp_path: Path) -> None:
    path = tmp_path / "variables.tf.json"
    path.write_text('{"variable": {"a": {"default": %s}}}' % ("1" * 5000))

    assert [one.name for one in scan_declarations(path)] == ["a"]


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "variables.tf"
    path.write_bytes(b"# caf\xe9\n")

    with pytest.raises(VariableError) as caught:
        scan_declarations(path)

    assert str(caught.value) == f"{path}: byte 5 is not UTF-8"


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (["mass_g", "note"], "use 'mass_g'"),
        (["zeta", "note"], "use one of the declared: note, zeta"),
        ([], "declare 'mass' first"),
    ],
)
def test_a_hint_names_the_nearest_or_all(known: list[str], expected: str) -> None:
    assert nearest_hint("mass", known, what="declared") == expected
