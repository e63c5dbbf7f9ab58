"""Placeholders: names, types, and everything that is no name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.documents import load_document
from harness.core.placeholders import names_in, render, render_document
from harness.errors import SpecError, VariableError


def test_a_placeholder_inside_a_text_stands_for_its_value_as_text() -> None:
    values = {"sample": "interrupted", "mass_g": 5.0, "dry": True}

    rendered = render("mix {{ sample }}: {{mass_g}} g, dry: {{ dry }}\n", values)

    assert rendered == "mix interrupted: 5.0 g, dry: true\n"


@pytest.mark.parametrize("value", [5, 0.5, True, None, ["a"], {"a": 1}, "text"])
def test_a_text_that_is_one_placeholder_keeps_the_type_of_its_value(value: object) -> None:
    rendered = render("{{ it }}", {"it": value})

    assert rendered == value
    assert type(rendered) is type(value)


def test_lists_and_mappings_are_rendered_all_the_way_down() -> None:
    value = {"steps": [{"id": "{{ a }}", "n": 1}, "{{ b }}"]}

    assert render(value, {"a": "x", "b": 2}) == {"steps": [{"id": "x", "n": 1}, 2]}


def test_a_value_is_not_rendered_again() -> None:
    assert render("{{ a }} {{ a }}", {"a": "{{ b }}"}) == "{{ b }} {{ b }}"


def test_an_undeclared_name_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(VariableError) as caught:
        render("about {{ sampel_id }}", {"sample_id": "x", "other": "y"})

    assert str(caught.value) == "placeholder 'sampel_id' names no variable of the stack"
    assert caught.value.hint == "did you mean 'sample_id'?"


@pytest.mark.parametrize(
    "text",
    [
        "{{ a | upper }}",
        "{{ a.b }}",
        "{{ a + b }}",
        "{{ 'a' }}",
        "{{ a() }}",
        "{{- a }}",
        "{% if a %}x{% endif %}",
        "{% raw %}x{% endraw %}",
        "{# note #}",
        "{{ a",
        "{{ }}",
    ],
)
def test_anything_else_than_a_name_in_braces_is_an_error(text: str) -> None:
    with pytest.raises(VariableError) as caught:
        render(text, {"a": "x", "b": "y"})

    assert str(caught.value) == f"{text!r} holds more than names between braces"


def test_a_placeholder_in_a_key_is_an_error() -> None:
    with pytest.raises(VariableError) as caught:
        render({"{{ a }}": 1}, {"a": "x"})

    assert str(caught.value) == "key '{{ a }}' holds a placeholder, which only a value may"


def test_every_name_is_found_wherever_it_stands() -> None:
    assert names_in({"a": ["{{ x }}", {"b": "{{ y }} and {{ x }}"}], "c": 1}) == {"x", "y"}


@given(st.text().filter(lambda text: not any(mark in text for mark in ("{{", "{%", "{#"))))
def test_a_text_without_placeholders_stays_as_it_is(text: str) -> None:
    assert render(text, {}) == text


@given(st.text(alphabet=" ab}\r\n\t\x0b-#%"), st.text(alphabet=" ab}\r\n\t\x0b-#%"))
def test_the_text_around_a_placeholder_stays_as_it_is(before: str, after: str) -> None:
    assert render(f"{before}{{{{ x }}}}{after}", {"x": "_"}) == f"{before}_{after}"


def test_a_document_says_where_an_undeclared_name_stands(tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text("id: one\nsetup:\n  - inputs: { mass: '{{ mas }}' }\n")
    document = load_document(path)

    with pytest.raises(SpecError) as caught:
        render_document(document, {"mass": 1}, kind=SpecError)

    problem = "placeholder 'mas' names no variable of the stack"
    assert str(caught.value) == f"{path}:3: setup.0.inputs.mass: {problem}"
    assert caught.value.hint == "did you mean 'mass'?"


def test_a_document_is_rendered_with_its_lines_kept(tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text("id: '{{ name }}'\n")
    document = load_document(path)

    rendered = render_document(document, {"name": "one"}, kind=SpecError)

    assert rendered.data == {"id": "one"}
    assert rendered.lines == document.lines
