"""Where blocks begin and end, in native text and in JSON."""

from __future__ import annotations

import json

import pytest

from harness.terraform.blocks import keep_blocks, scan_blocks
from harness.terraform.json_blocks import keep_json_blocks, scan_json_blocks

_NATIVE = """\
/* variable
"no" { */ variable "first" { default = "}" }
locals {
  text = "${"${"}"}"} variable \\"no\\" {"
  more = <<-EOT
    variable "no" {
    X_EOT_Y ' "
    ${ [<<IN
EOT
}
IN
    , "EOT"][0] } $${ %%{ {
    ${1}EOT
    EOT
  list = [for one in ["}"] : { # }
    one = one
  }]
}
# variable "no" {
variable e\u0301_2 {
  sensitive = ( # yes
    true )
  validation {
    condition = var.x == { sensitive = 1 }
  }
  ephemeral /* odd */ = false
}
variable "\\u0061" {
"""


def test_blocks_are_found_past_strings_heredocs_templates_and_comments() -> None:
    found = [(block.kind, block.label, block.line) for block in scan_blocks(_NATIVE)]

    assert found == [
        ("variable", "first", 2),
        ("locals", "", 3),
        ("variable", "e\u0301_2", 20),
        ("variable", "a", 28),
    ]


def test_a_block_s_own_attributes_are_read_and_not_those_within_them() -> None:
    blocks = list(scan_blocks(_NATIVE))

    assert blocks[0].attributes == {"default": '"}"'}
    assert blocks[2].attributes == {"sensitive": "(true)", "ephemeral": "false"}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_is_kept_keeps_its_lines(end: str) -> None:
    text = _NATIVE.replace("\n", end)

    kept = keep_blocks(text, {"variable"})

    assert [(block.label, block.line) for block in scan_blocks(kept)] == [
        ("first", 2),
        ("e\u0301_2", 20),
        ("a", 28),
    ]
    assert "EOT" not in kept
    assert kept.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    ["", "}", "{", '"', "a = {\n}", "<<EOT\n", '"${', "variable {", "/*", 'x "y" [', "<<E\nE"],
)
def test_text_that_breaks_the_grammar_is_read_to_its_end(text: str) -> None:
    kinds = [(block.kind, block.label) for block in scan_blocks(text)]

    assert kinds == ([("variable", "")] if text.startswith("variable") else [])


def test_an_unclosed_string_ends_with_its_line() -> None:
    text = 'locals {\n  a = "open\n}\nvariable "b" {\n}\n'

    assert [block.label for block in scan_blocks(text)] == ["", "b"]


_BODIES = '{"a": {"sensitive": true, "default": {"variable": {"no": {}}}},\n "b\\u0301": [{}]}'

_JSON = [
    f'{{"//": "variable", "variable": {_BODIES}, "output": []}}',
    f'{{"output": {{"x": "}}{{"}}, "variable": [{_BODIES}]}}',
    f'[{{"locals": {{}}}}, {{"variable": {_BODIES}}}, {{}}]',
]


@pytest.mark.parametrize("text", _JSON)
def test_json_blocks_are_found_in_every_form(text: str) -> None:
    found = [block for block in scan_json_blocks(text) if block.kind == "variable"]

    assert [(block.label, block.line) for block in found] == [("a", 1), ("b\u0301", 2)]
    assert found[0].attributes["sensitive"] == "true"


@pytest.mark.parametrize("text", _JSON)
def test_json_that_is_kept_stays_json_and_keeps_its_lines(text: str) -> None:
    kept = keep_json_blocks(text, {"variable"})

    whole = json.loads(kept)
    assert {key for part in (whole if isinstance(whole, list) else [whole]) for key in part} == {
        "variable"
    }
    assert [block.line for block in scan_json_blocks(kept)] == [1, 2]


def test_a_property_that_stands_twice_is_found_twice() -> None:
    text = '{"variable": {"a": {}, "a": {}}, "x": 1, "variable": {"a": {}, "": {}}}'

    assert [block.label for block in scan_json_blocks(text)] == ["a", "a", "a", ""]
    assert keep_json_blocks(text, {"variable"}).count('"a"') == 3
