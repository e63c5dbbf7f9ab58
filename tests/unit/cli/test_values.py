"""Values of root variables as they are typed, and as they stand in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.values import load_values, merged, parse_assignments
from harness.errors import ConfigError, VariableError


def test_a_text_stays_as_it_was_typed() -> None:
    found = parse_assignments(["a=1", "b=x=y ", "c=", 'd=["quoted", "${var.x}"]'])

    assert found == {"a": "1", "b": "x=y ", "c": "", "d": '["quoted", "${var.x}"]'}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["secret"], "--var: no '=' in a text of 6 characters, expected NAME=TEXT"),
        (["=1"], "--var: no name before '=', expected NAME=TEXT"),
        (["a=1", "a=2"], "--var: 'a' is given twice"),
    ],
)
def test_a_text_without_name_or_value_is_refused_and_not_shown(
    texts: list[str], message: str
) -> None:
    with pytest.raises(VariableError) as caught:
        parse_assignments(texts)

    assert caught.value.message == message


def test_files_of_json_and_yaml_are_read_with_their_types(tmp_path: Path) -> None:
    typed, plain = tmp_path / "a.json", tmp_path / "b.yaml"
    typed.write_text('{\n\t"sizes": [1, 2.5], "on": true, "none": null}')
    plain.write_text("names: {first: web}\n")

    found = load_values([typed, plain])

    assert found == {"sizes": [1, 2.5], "on": True, "none": None, "names": {"first": "web"}}


def test_what_is_typed_wins_over_a_file(tmp_path: Path) -> None:
    path = tmp_path / "values.yaml"
    path.write_text("a: 1\nb: 2\n")

    assert merged(["b=3"], [path]) == {"a": 1, "b": "3"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("v.json", '{"a": 1,}', "v.json:1: not JSON: "),
        ("v.json", "[1]", "v.json:1: not a mapping, expected name to value"),
        ("v.json", '{"a": {"b": 1, "b": 2}}', "v.json: 'b' stands twice"),
        ("v.yaml", "a: [1", "v.yaml:"),
        ("v.yaml", "a: 1\na: 2\n", "v.yaml:2: 'a' stands twice, first in line 1"),
        ("v.yaml", "- 1\n", "v.yaml:1: a list, expected a mapping"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_its_line(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text)

    with pytest.raises(ConfigError) as caught:
        load_values([path])

    assert caught.value.message.startswith(f"{tmp_path}/{message}")


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    for path, found in ((tmp_path / "gone.yaml", "does not exist"), (tmp_path, "is a folder")):
        with pytest.raises(ConfigError) as caught:
            load_values([path])

        assert caught.value.message == f"{path}: {found}, expected a file of JSON or YAML"


def test_a_name_in_two_files_is_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("a: 1\n")
    second.write_text("a: 2\n")

    with pytest.raises(VariableError, match="'a' stands in another --var-file too"):
        load_values([first, second])
