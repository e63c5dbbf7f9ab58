"""A sensitive value is in the state and in the var file, both private, and nowhere else.

Each stack does its worst: it takes the mark off the value and prints it as it fails.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.core.files import PRIVATE_MODE, read_json
from harness.errors import HarnessError, VariableError
from harness.terraform.engine import Engine
from harness.terraform.outcomes import Outcome, TerraformOutcomeError
from harness.terraform.stack import Stack
from harness.terraform.variables import resolve

#: Values of several types: words, lines, quotes, templates, numbers, and two too short to be
#: told from ordinary words except where they stand alone.
_SECRETS: Mapping[str, Any] = {
    "word": "hunter2-correct-horse",
    "lines": 'first line of it\nsecond "quoted" line\n\tthird\\line\n',
    "odd": 'half"half ${not} %{a} template — é',
    "short": "q7",
    "number": 90210.25,
    "nested": {"keys": ["alpha-bravo-1", {"deep": "charlie-delta-2"}], "pin": 4711},
}

_TYPES = {"number": "number", "nested": "object({ keys = any, pin = number })"}

_DECLARED = "".join(
    f'variable "{name}" {{\n  type      = {_TYPES.get(name, "string")}\n  sensitive = true\n}}\n'
    for name in _SECRETS
)

#: Every form in which the values are printed: plain, quoted, in JSON, in base64, among words.
_PRINTED = (
    '"word=${nonsensitive(var.word)}; ${jsonencode(nonsensitive(var.nested))} '
    "<${nonsensitive(var.short)}> [${base64encode(nonsensitive(var.word))}] "
    "${nonsensitive(var.number)} '${nonsensitive(var.odd)}' ${nonsensitive(var.lines)} "
    '${jsonencode(nonsensitive(var.lines))} ${jsonencode(nonsensitive(var.odd))}"'
)

_PLAN = f"""
resource "terraform_data" "x" {{
  lifecycle {{
    precondition {{
      condition     = length(var.word) < 2
      error_message = {_PRINTED}
    }}
  }}
}}
"""

_CHECKED = f"""
variable "checked" {{
  type      = string
  sensitive = true
  default   = "hunter2-correct-horse"
  validation {{
    condition     = length(var.checked) < 2
    error_message = {_PRINTED}
  }}
}}
"""

#: The provisioners print what they were given on both streams, and their command is in the error.
_APPLY = f"""
resource "terraform_data" "x" {{
  input = var.word
  provisioner "local-exec" {{
    command     = "printf '%s' \\"$SAID\\" >&2; echo $SAID; exit 3 # ${{nonsensitive(var.word)}}"
    environment = {{ SAID = {_PRINTED} }}
  }}
}}
"""

_DESTROY = f"""
resource "terraform_data" "x" {{
  triggers_replace = {_PRINTED}
  provisioner "local-exec" {{
    when        = destroy
    command     = "printf '%s' \\"$SAID\\"; printf '%s' \\"$SAID\\" >&2; exit 3"
    environment = {{ SAID = self.triggers_replace }}
  }}
}}
"""

MakeStack = Callable[..., Stack]


def _texts() -> Iterator[str]:
    """Yield what must be nowhere."""
    yield from ("hunter2", "horse", "first line of it", "quoted", "third\\line", "alpha-bravo")
    yield from ("charlie-delta", "4711", "90210", "<q7>", 'half"', "${not}", "template")
    yield base64.b64encode(b"hunter2-correct-horse").decode()
    yield json.dumps(_SECRETS["odd"])[1:-1]


def _assert_kept(tmp_path: Path, error: HarnessError | None) -> None:
    private = {"vars.tfvars.json", "terraform.tfstate", "terraform.tfstate.backup"}
    told = [str(error), repr(error), str(error.hint)] if error else []
    if isinstance(error, TerraformOutcomeError):
        told.append(repr(error.diagnostics))
    found: dict[str, list[str]] = {}
    told += [
        path.read_text(errors="replace")
        for path in tmp_path.rglob("*")
        if path.is_file() and path.name not in private and path.suffix != ".tf"
    ]
    for text in _texts():
        if places := [one[:1500] for one in told if text in one]:
            found[text] = places
    assert found == {}


def _live(stack: Stack) -> None:
    stack.apply(stack.plan())
    stack.destroy()


def _create(make_stack: MakeStack, text: str) -> Stack:
    stack = make_stack({"variables.tf": _DECLARED, "main.tf": text}, _SECRETS)
    stack.init()
    return stack


@pytest.mark.parametrize("failing", ["plan", "apply", "destroy", "validation"])
def test_a_sensitive_value_is_in_no_message_and_no_file_but_state_and_var_file(
    make_stack: MakeStack, tmp_path: Path, failing: str
) -> None:
    texts = {"plan": _PLAN, "apply": _APPLY, "destroy": _DESTROY, "validation": _CHECKED}
    stack = _create(make_stack, texts[failing])

    with pytest.raises(TerraformOutcomeError) as caught:
        _live(stack)

    assert caught.value.outcome is Outcome.FAILED
    assert "(sensitive)" in str(caught.value)
    _assert_kept(tmp_path, caught.value)
    assert stack.work_dir.stat().st_mode & 0o777 == 0o700
    var_file = stack.work_dir / "vars.tfvars.json"
    assert var_file.stat().st_mode & 0o777 == PRIVATE_MODE
    assert read_json(var_file) == dict(_SECRETS)


def test_a_sensitive_value_is_in_no_refusal(any_engine: Engine, tmp_path: Path) -> None:
    stack_dir = tmp_path / "world"
    stack_dir.mkdir()
    (stack_dir / "variables.tf").write_text(_DECLARED + _CHECKED)

    with pytest.raises(VariableError) as caught:
        resolve(any_engine, stack_dir, {**_SECRETS, "checked": "hunter2"})

    assert "variables.tf" in str(caught.value)
    _assert_kept(tmp_path, caught.value)
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize("given", [{"number": "hunter2"}, {"nested": ["alpha-bravo"]}])
def test_a_sensitive_value_that_does_not_fit_is_not_shown(
    any_engine: Engine, tmp_path: Path, given: Mapping[str, Any]
) -> None:
    stack_dir = tmp_path / "world"
    stack_dir.mkdir()
    (stack_dir / "variables.tf").write_text(_DECLARED)

    with pytest.raises(VariableError) as caught:
        resolve(any_engine, stack_dir, {**_SECRETS, **given})

    assert "the value does not fit" in str(caught.value)
    _assert_kept(tmp_path, caught.value)
