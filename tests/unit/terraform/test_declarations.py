"""Where variables are declared: a scan for presentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import VariableError
from harness.terraform.declarations import (
    find_declarations,
    nearest_hint,
    scan_declarations,
    variable_files,
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


def test_only_files_that_decide_values_are_variable_files(tmp_path: Path) -> None:
    kept = ["lab.auto.tfvars", "terraform.tfvars.json", "variables.tf", "variables_override.tf"]
    for name in (*kept, "main.tf", "other.tfvars", "outputs.tf", "variables.md"):
        (tmp_path / name).touch()

    assert [path.name for path in variable_files(tmp_path)] == kept


def test_a_declaration_outside_of_the_variable_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "variables.tf").write_text('variable "a" {}\n')
    (tmp_path / "main.tf.json").write_text('{"variable": {"b": {}}}')

    with pytest.raises(VariableError) as caught:
        find_declarations(tmp_path)

    assert str(caught.value) == (
        f"{tmp_path}/main.tf.json:1: variable 'b' declared outside of variables.tf"
    )
    assert caught.value.hint == f"move it to {tmp_path}/variables.tf"


def test_a_file_that_is_not_json_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "variables.tf.json"
    path.write_text('{\n"variable": }')

    with pytest.raises(VariableError) as caught:
        scan_declarations(path)

    assert str(caught.value) == f"{path}:2: not JSON: Expecting value"


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
