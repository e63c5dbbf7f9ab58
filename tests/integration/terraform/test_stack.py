"""A real engine runs a stack of built-in resources from plan to destroy, and into each failure."""

from __future__ import annotations

import json
import re
import stat
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from harness.core.waiting import wait_until
from harness.errors import TerraformError, VariableError
from harness.terraform.commands import Limits
from harness.terraform.engine import Engine
from harness.terraform.outcomes import Change, Outcome, TerraformOutcomeError
from harness.terraform.stack import Stack

MakeStack = Callable[..., Stack]

_FILES = {
    "variables.tf": 'variable "names" {\n  type = set(string)\n}\n'
    'variable "token" {\n  type = string\n  sensitive = true\n}\n',
    "main.tf": 'resource "terraform_data" "each" {\n  for_each = var.names\n'
    "  input = var.token\n}\n"
    'data "terraform_remote_state" "none" {\n  count = 0\n  backend = "local"\n}\n',
    "outputs.tf": 'output "count" { value = length(terraform_data.each) }\n'
    'output "token" {\n  value = var.token\n  sensitive = true\n}\n',
}
_VALUES = {"names": ["a", "b"], "token": "s3cret-token"}

#: Fails with the token in its message, as a provider's error may.
_FAILING = {
    "variables.tf": _FILES["variables.tf"],
    "main.tf": 'resource "terraform_data" "broken" {\n'
    '  provisioner "local-exec" { command = "echo boo ${nonsensitive(var.token)}; exit 3" }\n}\n',
}

_SLOW = {
    "main.tf": 'resource "terraform_data" "quick" {}\n'
    'resource "terraform_data" "slow" {\n'
    '  provisioner "local-exec" { command = "touch started; sleep 30" }\n}\n'
    'resource "terraform_data" "later" {\n  depends_on = [terraform_data.slow]\n}\n',
}


def _changes(*addresses: str, action: str = "create") -> tuple[Change, ...]:
    return tuple(Change(address=address, actions=(action,)) for address in addresses)


def test_a_stack_lives_from_plan_to_destroy(make_stack: MakeStack, tmp_path: Path) -> None:
    stack = make_stack(_FILES, _VALUES)
    addresses = ('terraform_data.each["a"]', 'terraform_data.each["b"]')

    stack.init()
    before = stack.resources
    plan = stack.plan()
    stack.apply(plan)
    during, outputs, drift = stack.resources, stack.outputs(), stack.drift()
    second = stack.plan()
    stack.destroy()

    assert (before, during, stack.resources) == ((), addresses, ())
    assert plan.changes == _changes(*addresses)
    assert not plan.path.exists()
    assert outputs == {"count": 2, "token": "s3cret-token"}
    assert drift == ()
    assert second.changes == ()
    log = (tmp_path / "terraform.log").read_text()
    assert [json.loads(line)["outcome"] for line in log.splitlines()] == [
        *("done", "changes", "done", "no_changes", "no_changes", "done"),
    ]
    assert "s3cret" not in log


def test_what_is_private_can_be_read_by_its_owner_only(make_stack: MakeStack) -> None:
    stack = make_stack(_FILES, _VALUES)
    stack.init()

    plan = stack.plan()

    modes = [
        stat.S_IMODE(path.stat().st_mode)
        for path in (stack.work_dir, stack.work_dir / "vars.tfvars.json", plan.path)
    ]
    assert modes == [0o700, 0o600, 0o600]


def test_a_copy_holds_modules_and_policies_where_the_stack_looks_for_them(
    make_stack: MakeStack, tmp_path: Path
) -> None:
    module = tmp_path / "root" / "tf" / "modules" / "echo" / "main.tf"
    module.parent.mkdir(parents=True)
    module.write_text('resource "terraform_data" "said" {}\n')
    policy = tmp_path / "root" / "policies" / "no-harm" / "policy.yaml"
    policy.parent.mkdir(parents=True)
    policy.write_text("kind: Policy\n")
    (policy.parent / "spec.yaml").write_text("kind: SafetySpec\n")
    stack = make_stack(
        {
            "main.tf": 'module "echo" {\n  source = "../../modules/echo"\n}\n'
            'output "policies" {\n'
            '  value = fileset("${path.module}/../../../policies", "**")\n}\n',
            "terraform.tfstate": "{}",
        }
    )

    stack.init()
    stack.apply(stack.plan())

    assert stack.outputs()["policies"] == ["no-harm/policy.yaml"]
    assert stack.resources == ("module.echo.terraform_data.said",)


def test_drift_names_addresses_and_actions_only(make_stack: MakeStack) -> None:
    stack = make_stack(_FILES, _VALUES)
    stack.init()
    stack.apply(stack.plan())
    main = stack.module_dir / "main.tf"
    main.write_text(main.read_text().replace("input = var.token", 'triggers_replace = "x"'))

    drift = stack.drift()

    assert drift == tuple(
        Change(address=f'terraform_data.each["{key}"]', actions=("delete", "create"))
        for key in ("a", "b")
    )


def test_a_failed_apply_says_where_and_why_and_hides_secrets(
    make_stack: MakeStack, engine: Engine, tmp_path: Path
) -> None:
    stack = make_stack(_FAILING, _VALUES)
    stack.init()

    with pytest.raises(TerraformOutcomeError) as caught:
        stack.apply(stack.plan())

    assert caught.value.outcome is Outcome.FAILED
    assert str(caught.value) == (
        f"{engine.name} apply: failed: main.tf:2 terraform_data.broken: "
        "local-exec provisioner error: Error running command "
        "'echo boo (sensitive); exit 3': exit status 3. Output: boo (sensitive)"
    )
    assert "s3cret" not in repr(caught.value.diagnostics)
    assert "s3cret" not in (tmp_path / "terraform.log").read_text()
    assert stack.plan().changes == (
        Change(address="terraform_data.broken", actions=("delete", "create")),
    )
    stack.destroy()
    assert stack.resources == ()


def test_an_init_that_cannot_work_fails_with_its_reason(
    make_stack: MakeStack, engine: Engine
) -> None:
    stack = make_stack({"main.tf": 'module "gone" {\n  source = "./gone"\n}\n'})

    with pytest.raises(TerraformOutcomeError) as caught:
        stack.init()

    assert caught.value.outcome is Outcome.FAILED
    assert str(caught.value).startswith(f"{engine.name} init: failed: ")
    assert "gone" in str(caught.value)


def test_an_apply_whose_time_is_up_is_interrupted_once_and_leaves_no_process(
    make_stack: MakeStack, engine: Engine, tmp_path: Path
) -> None:
    stack = make_stack(_SLOW, apply_s=1.5)
    stack.init()

    with pytest.raises(TerraformOutcomeError) as caught:
        stack.apply(stack.plan())

    assert caught.value.outcome is Outcome.TIMED_OUT
    assert str(caught.value).startswith(f"{engine.name} apply: ended after ")
    applied = json.loads((tmp_path / "terraform.log").read_text().splitlines()[-1])
    assert applied["seconds"] < 10, "the interrupt ends it, not the end of the grace of 15 s"
    assert stack.resources == ("terraform_data.quick", "terraform_data.slow")
    assert stack.plan().changes == (
        Change(address="terraform_data.later", actions=("create",)),
        Change(address="terraform_data.slow", actions=("delete", "create")),
    )


def test_a_second_holder_of_the_state_is_told_who_has_it(
    make_stack: MakeStack, engine: Engine, environment: Mapping[str, str], tmp_path: Path
) -> None:
    first = make_stack({"main.tf": _SLOW["main.tf"].replace("sleep 30", "sleep 4")})
    first.init()
    plan = first.plan()
    second = Stack(
        engine,
        work_dir=first.work_dir,
        environment=environment,
        log_path=tmp_path / "second.log",
        limits=Limits(lock_s=0.5),
    )
    holder = threading.Thread(target=first.apply, args=(plan,))
    holder.start()
    started = first.module_dir / "started"
    wait_until(started.exists, bool, what="the first apply", timeout_s=10)

    with pytest.raises(TerraformOutcomeError) as caught:
        second.drift()
    holder.join()

    assert caught.value.outcome is Outcome.LOCKED
    assert str(caught.value).startswith(f"{engine.name} plan: state locked by ")
    assert re.search(r" for OperationTypeApply \d s ago, lock [0-9a-f-]{36}$", str(caught.value))
    assert caught.value.hint == "wait for its holder to end, or end it"


def test_a_stack_never_applied_is_destroyed_without_the_engine(
    make_stack: MakeStack, tmp_path: Path
) -> None:
    stack = make_stack(_FILES, _VALUES)

    stack.destroy()

    assert not (tmp_path / "terraform.log").exists()


def test_a_destroy_from_a_fresh_start_uses_the_stored_values_and_rules(
    make_stack: MakeStack, engine: Engine, environment: Mapping[str, str], tmp_path: Path
) -> None:
    made = make_stack(_FILES, _VALUES)
    made.init()
    made.apply(made.plan())
    source = tmp_path / "root" / "tf" / "stacks" / "world" / "variables.tf"
    source.write_text(
        source.read_text().replace(
            "set(string)",
            "set(string)\n  validation {\n"
            '    condition     = length(var.names) > 9\n    error_message = "More."\n  }',
        )
    )

    opened = Stack(
        engine, work_dir=made.work_dir, environment=environment, log_path=tmp_path / "sweep.log"
    )
    opened.destroy()

    assert opened.resources == ()


def test_a_folder_is_never_given_to_two_stacks(make_stack: MakeStack) -> None:
    first = make_stack(_FILES, _VALUES)

    with pytest.raises(TerraformError) as caught:
        make_stack(_FILES, _VALUES)

    assert str(caught.value) == (
        f"{first.work_dir}: holds a stack already, expected an empty folder"
    )


def test_an_unknown_stack_is_refused_before_anything_is_copied(
    engine: Engine, environment: Mapping[str, str], tmp_path: Path
) -> None:
    with pytest.raises(VariableError) as caught:
        Stack.create(
            engine,
            stack_dir=tmp_path / "nowhere",
            policies_dir=None,
            work_dir=tmp_path / "work",
            values={},
            environment=environment,
            log_path=tmp_path / "terraform.log",
        )

    assert caught.value.hint == "declare 'nowhere' first"
    assert not (tmp_path / "work").exists()


def test_a_wrapper_that_prints_first_is_understood(
    make_stack: MakeStack, engine: Engine, environment: Mapping[str, str], tmp_path: Path
) -> None:
    made = make_stack(_FILES, _VALUES)
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\necho "[command] $1"\nexec {engine.path} "$@"\n')
    wrapper.chmod(0o755)
    wrapped = Engine(path=wrapper, name=engine.name, version=engine.version, plugin_mirror=None)
    stack = Stack(
        wrapped,
        work_dir=made.work_dir,
        environment={**environment, "TF_LOG": "INFO"},
        log_path=tmp_path / "wrapped.log",
    )

    stack.init()
    stack.apply(stack.plan())

    assert stack.outputs()["count"] == 2
