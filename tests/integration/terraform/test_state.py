"""What a stack does with a state that is not what it left, or cannot be written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from harness.errors import TerraformError
from harness.terraform.engine import Engine
from harness.terraform.outcomes import Change, Outcome, TerraformOutcomeError
from harness.terraform.stack import Stack

MakeStack = Callable[..., Stack]

_FILES = {
    "variables.tf": 'variable "note" {\n  type = string\n}\n',
    "main.tf": 'resource "terraform_data" "kept" {\n  input = var.note\n}\n',
    "outputs.tf": 'output "note" {\n  value = terraform_data.kept.output\n}\n',
}


def _applied(stack: Stack) -> Stack:
    stack.init()
    stack.apply(stack.plan())
    return stack


def _set_note(stack: Stack, note: str) -> None:
    (stack.work_dir / "vars.tfvars.json").write_text(json.dumps({"note": note}))


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def _refusals(stack: Stack) -> list[Outcome]:
    """Return how everything that reads or acts on the state refuses to."""
    found = []
    for act in (
        stack.plan,
        stack.drift,
        stack.destroy,
        stack.outputs,
        stack.manifests,
        lambda: stack.resources,
    ):
        with pytest.raises(TerraformOutcomeError) as caught:
            act()
        found.append(caught.value.outcome)
    return found


def test_nothing_acts_on_a_state_that_is_not_what_was_left(
    make_stack: MakeStack, tmp_path: Path
) -> None:
    stack = _applied(make_stack(_FILES, {"note": "first"}))
    path = stack.module_dir / "terraform.tfstate"
    older = path.read_bytes()
    _set_note(stack, "second")
    stack.apply(stack.plan())
    newest = path.read_bytes()
    another = {**json.loads(newest), "lineage": "somebody-elses"}
    plan = stack.plan()
    log = tmp_path / "terraform.log"
    commands = _lines(log)
    spoilt: dict[str, tuple[bytes | None, Outcome]] = {
        "cut": (newest[:-40], Outcome.STATE_DAMAGED),
        "not JSON": (b"<<<<<<< HEAD\n" + newest, Outcome.STATE_DAMAGED),
        "not text": (b"\xff\xfe" + newest, Outcome.STATE_DAMAGED),
        "emptied": (b"", Outcome.STATE_LOST),
        "gone": (None, Outcome.STATE_LOST),
        "older": (older, Outcome.STATE_OUTDATED),
        "another's": (json.dumps(another).encode(), Outcome.STATE_FOREIGN),
    }

    found = {}
    for name, (content, _) in spoilt.items():
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        found[name] = set(_refusals(stack))
        assert (path.read_bytes() if path.exists() else None) == content
        path.write_bytes(newest)
    path.unlink()
    with pytest.raises(TerraformOutcomeError) as refused:
        stack.apply(plan)
    path.write_bytes(newest)

    assert found == {name: {outcome} for name, (_, outcome) in spoilt.items()}
    assert str(refused.value) == (
        f"{stack.module_dir}: the state is gone; it named 1 resources at serial "
        f"{json.loads(newest)['serial']}"
    )
    assert refused.value.hint == ("take the stack down by its record: what was made is still there")
    assert _lines(log) == commands, "the engine was not even asked"
    assert stack.output("note") == "second"
    stack.destroy()
    assert stack.resources == ()


def test_a_stack_whose_things_are_known_to_be_gone_begins_anew(make_stack: MakeStack) -> None:
    stack = _applied(make_stack(_FILES, {"note": "x"}))
    path = stack.module_dir / "terraform.tfstate"
    path.write_bytes(path.read_bytes()[:100])

    stack.begin_anew()
    stack.destroy()
    plan = stack.plan()

    assert plan.changes == (Change(address="terraform_data.kept", actions=("create",)),)
    assert len((stack.module_dir / "terraform.tfstate.aside-0").read_bytes()) == 100


def test_an_output_that_is_not_there_is_an_error_and_so_is_a_state_that_is_not(
    make_stack: MakeStack,
) -> None:
    stack = make_stack(_FILES, {"note": "x"})
    stack.init()

    with pytest.raises(TerraformError) as before:
        stack.output("note")
    stack.apply(stack.plan())
    with pytest.raises(TerraformError) as after:
        stack.output("nota")

    assert str(before.value) == f"{stack.module_dir}: no state, so no outputs"
    assert str(after.value) == f"{stack.module_dir}: no output named 'nota'; there: note"


def test_a_state_for_which_the_disk_has_no_room_is_kept_and_put_back(
    make_stack: MakeStack, engine: Engine, environment: Mapping[str, str], tmp_path: Path
) -> None:
    made = make_stack(
        {
            "main.tf": 'resource "terraform_data" "big" {\n'
            '  input = join("", [for i in range(1000) : format("%060d", i)])\n}\n'
            'resource "terraform_data" "next" {\n  depends_on = [terraform_data.big]\n}\n'
        }
    )
    cramped = tmp_path / "cramped"
    cramped.write_text(f'#!/bin/bash\n[ "$1" = apply ] && ulimit -f 32\nexec {engine.path} "$@"\n')
    cramped.chmod(0o755)
    stack = Stack(
        Engine(path=cramped, name=engine.name, version=engine.version, plugin_mirror=None),
        work_dir=made.work_dir,
        environment=environment,
        log_path=tmp_path / "cramped.log",
    )
    stack.init()

    with pytest.raises(TerraformOutcomeError) as caught:
        stack.apply(stack.plan())
    cut = (made.module_dir / "terraform.tfstate").stat().st_size
    resources = made.resources
    plan = made.plan()

    assert caught.value.outcome is Outcome.STATE_UNWRITTEN
    assert caught.value.hint == "free disk space, or bring the backend back, then plan again"
    assert "00000000" not in str(caught.value)
    assert cut == 32 * 1024
    assert "terraform_data.big" in resources
    assert {change.address for change in plan.changes} <= {"terraform_data.next"}
    made.destroy()
    assert made.resources == ()


def test_an_apply_that_cannot_be_journalled_does_not_begin(
    make_stack: MakeStack, tmp_path: Path
) -> None:
    stack = make_stack(_FILES, {"note": "x"})
    stack.init()
    plan = stack.plan()
    journal = stack.work_dir / "journal.jsonl"
    journal.symlink_to("/proc/version")

    with pytest.raises(TerraformError) as caught:
        stack.apply(plan)

    assert str(caught.value).startswith(f"{journal}: the journal cannot be ")
    assert "apply" not in (tmp_path / "terraform.log").read_text()


def test_an_apply_whose_end_found_no_room_in_the_journal_is_not_trusted(
    make_stack: MakeStack,
) -> None:
    stack = make_stack(
        {
            "main.tf": 'resource "terraform_data" "done" {\n  provisioner "local-exec" {\n'
            '    command = "mv $HERE/journal.jsonl $HERE/kept && '
            'ln -s /dev/full $HERE/journal.jsonl"\n'
            '    environment = { HERE = abspath("${path.module}/..") }\n  }\n}\n'
        }
    )
    stack.init()
    plan = stack.plan()
    journal = stack.work_dir / "journal.jsonl"

    with pytest.raises(TerraformError) as caught:
        stack.apply(plan)
    (stack.work_dir / "kept").replace(journal)

    assert str(caught.value) == f"{journal}: the journal cannot be written: No space left on device"
    assert stack.plan().replaced == ("terraform_data.done",)


def test_what_a_killed_apply_may_have_made_beside_the_state_is_named_by_destroy(
    make_stack: MakeStack,
) -> None:
    stack = make_stack(
        {
            "main.tf": 'resource "terraform_data" "made" {\n'
            '  provisioner "local-exec" { command = "kill -9 $PPID" }\n}\n'
        }
    )
    stack.init()
    with pytest.raises(TerraformOutcomeError) as killed:
        stack.apply(stack.plan())
    unaccounted = stack.unaccounted

    refusals = []
    for _ in range(2):
        with pytest.raises(TerraformOutcomeError) as caught:
            stack.destroy()
        refusals.append((caught.value.outcome, str(caught.value)))

    assert killed.value.outcome is Outcome.KILLED
    assert unaccounted == ("terraform_data.made",)
    assert refusals == 2 * [
        (
            Outcome.NOT_IN_STATE,
            (
                "destroy: destroyed what the state names; an apply that was cut off may have made "
                "terraform_data.made"
            ),
        )
    ]
    stack.begin_anew()
    stack.destroy()


def test_a_failed_destroy_keeps_the_state_and_is_done_again(make_stack: MakeStack) -> None:
    stack = _applied(
        make_stack(
            {
                "main.tf": 'resource "terraform_data" "stubborn" {\n  provisioner "local-exec" {\n'
                '    when    = destroy\n    command = "test -e ../allowed"\n  }\n}\n'
            }
        )
    )

    with pytest.raises(TerraformOutcomeError) as caught:
        stack.destroy()
    kept = stack.resources
    (stack.work_dir / "allowed").touch()
    stack.destroy()

    assert caught.value.outcome is Outcome.FAILED
    assert kept == ("terraform_data.stubborn",)
    assert stack.resources == ()


def test_a_state_file_outside_of_the_copy_that_others_filled_is_left_as_it_is(
    make_stack: MakeStack, tmp_path: Path
) -> None:
    shared = tmp_path / "shared.tfstate"
    backend = f'terraform {{\n  backend "local" {{\n    path = "{shared}"\n  }}\n}}\n'
    theirs = {"version": 4, "terraform_version": "1.7.0", "serial": 3, "lineage": "theirs"}
    instance = {"schema_version": 0, "attributes": {"id": "1"}}
    resource = {
        "mode": "managed",
        "type": "terraform_data",
        "name": "theirs",
        "provider": 'provider["terraform.io/builtin/terraform"]',
        "instances": [instance],
    }
    shared.write_text(json.dumps({**theirs, "outputs": {}, "resources": [resource]}))
    before = shared.read_bytes()
    stack = make_stack({"main.tf": backend + 'resource "terraform_data" "ours" {}\n'})
    stack.init()

    with pytest.raises(TerraformOutcomeError) as caught:
        stack.apply()
    stack.destroy()
    stack.begin_anew()

    assert caught.value.outcome is Outcome.STATE_FOREIGN
    assert caught.value.hint == "give this stack a state of its own"
    assert shared.read_bytes() == before
