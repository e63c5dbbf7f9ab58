"""Each way in which a real engine ends, and what the runner makes of it."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.waiting import wait_until
from harness.terraform.commands import Limits, run_command
from harness.terraform.engine import Engine, engine_environment
from harness.terraform.outcomes import Outcome, TerraformOutcomeError
from harness.terraform.plans import Plan, planned_changes
from harness.terraform.stack import Stack

MakeStack = Callable[..., Stack]
Wrap = Callable[[str], Stack]


@pytest.fixture
def wrap(
    make_stack: MakeStack, engine: Engine, environment: Mapping[str, str], tmp_path: Path
) -> Wrap:
    """Put a shell script in front of the engine of a small stack."""

    def wrapped(script: str) -> Stack:
        made = make_stack({"main.tf": _SMALL})
        path = tmp_path / "wrapper"
        path.write_text(f"#!/bin/bash\nENGINE={engine.path}\n{script}\n")
        path.chmod(0o755)
        return Stack(
            replace(engine, path=path),
            work_dir=made.work_dir,
            environment={**environment, "HERE": str(tmp_path)},
            log_path=tmp_path / "wrapped.log",
            limits=Limits(apply_s=0.5, grace_s=0.5),
        )

    return wrapped


_SMALL = 'resource "terraform_data" "a" {}\nresource "terraform_data" "b" {}\n'


def test_an_engine_that_does_not_heed_the_one_interrupt_is_ended_with_all_it_started(
    wrap: Wrap, tmp_path: Path
) -> None:
    stack = wrap(
        '[ "$1" = apply ] || exec $ENGINE "$@"\n'
        "trap 'echo int >> $HERE/interrupts' INT\n"
        "trap '' TERM\n"
        "sleep 60 & echo $! > $HERE/child.pid\n"
        "while :; do wait; done"
    )
    stack.init()

    with pytest.raises(TerraformOutcomeError) as caught:
        stack.apply(stack.plan())

    assert caught.value.outcome is Outcome.TIMED_OUT
    assert "its time was up and it did not heed the interrupt" in str(caught.value)
    assert (tmp_path / "interrupts").read_text() == "int\n"
    child = Path("/proc") / (tmp_path / "child.pid").read_text().strip()
    assert not child.exists()
    assert stack.plan().replaced == ("terraform_data.a", "terraform_data.b")


def test_an_apply_that_somebody_interrupts_ends_in_order(make_stack: MakeStack) -> None:
    stack = make_stack(
        {
            "main.tf": 'resource "terraform_data" "slow" {\n'
            '  provisioner "local-exec" { command = "kill -INT $PPID; sleep 30" }\n}\n'
        }
    )
    stack.init()

    with pytest.raises(TerraformOutcomeError) as caught:
        stack.apply(stack.plan())

    assert caught.value.outcome is Outcome.INTERRUPTED
    assert caught.value.hint == "plan again"
    assert stack.resources == ("terraform_data.slow",)
    assert stack.plan().replaced == (), "the engine itself says that it is not whole"


def test_a_missing_value_ends_a_plan_instead_of_asking_for_it(make_stack: MakeStack) -> None:
    stack = make_stack({"variables.tf": 'variable "needed" {\n  type = string\n}\n'})
    stack.init()

    with pytest.raises(TerraformOutcomeError) as caught:
        stack.plan()

    assert caught.value.outcome is Outcome.FAILED
    assert "No value for required variable" in str(caught.value)


@pytest.mark.parametrize(
    "script",
    [
        'printf "a banner without an end"\n$ENGINE "$@"',
        'echo "[command] $*"; echo "{\\"half\\": "; $ENGINE "$@"; rc=$?; echo bye; exit $rc',
        'export TF_LOG=TRACE\n$ENGINE "$@"',
        # Loses what every planned change said.
        'out=$($ENGINE "$@"); rc=$?; echo "$out" | sed "s/.*planned_change.*/cut/"; exit $rc',
    ],
    ids=["no newline", "lines around", "trace", "lines lost"],
)
def test_what_a_wrapper_does_to_the_stream_changes_no_plan(wrap: Wrap, script: str) -> None:
    stack = wrap(script)
    stack.init()

    plan = stack.plan()

    assert [change.address for change in plan.changes] == ["terraform_data.a", "terraform_data.b"]


def test_a_stream_names_what_the_saved_plan_names(
    make_stack: MakeStack, engine: Engine, environment: Mapping[str, str]
) -> None:
    stack = make_stack(
        {
            "main.tf": 'resource "terraform_data" "kept" {}\n'
            'resource "terraform_data" "updated" { input = 1 }\n'
            'resource "terraform_data" "replaced" { triggers_replace = 1 }\n'
            'resource "terraform_data" "before" {\n  triggers_replace = 1\n'
            "  lifecycle { create_before_destroy = true }\n}\n"
            'resource "terraform_data" "old_name" {}\n'
            'resource "terraform_data" "some" { for_each = toset(["a\\"b", "$${x}"]) }\n'
        }
    )
    stack.init()
    stack.apply(stack.plan())
    main = stack.module_dir / "main.tf"
    text = main.read_text().replace("= 1", "= 2").replace('toset(["a\\"b", ', "toset([")
    moved = "moved {\n  from = terraform_data.old_name\n  to   = terraform_data.new_name\n}\n"
    main.write_text(text.replace('"old_name"', '"new_name"') + moved)
    addresses = stack.resources

    plan = stack.plan()
    shown = run_command(
        [str(engine.path), "show", "-json", str(plan.path)],
        command="show",
        env=environment,
        cwd=stack.module_dir,
        timeout_s=20,
    ).document("show")

    assert 'terraform_data.some["a\\"b"]' in addresses
    assert 'terraform_data.some["$${x}"]' in addresses
    assert {(one.address, frozenset(one.actions)) for one in plan.changes} == {
        (one.address, frozenset(one.actions)) for one in planned_changes(shown["resource_changes"])
    }
    assert {one.address.partition(".")[2]: "".join(one.actions) for one in plan.changes} == {
        "before": "deletecreate",
        "replaced": "deletecreate",
        'some["a\\"b"]': "delete",
        "updated": "update",
    }


@pytest.fixture
def broken_provider(engine: Engine, tmp_path: Path) -> Engine:
    """An engine whose mirror has a provider that ends at its start."""
    for host in ("registry.terraform.io", "registry.opentofu.org"):
        folder = tmp_path / "mirror" / host / "gavinbunney" / "kubectl" / "1.19.0" / "linux_amd64"
        folder.mkdir(parents=True)
        binary = folder / "terraform-provider-kubectl_v1.19.0"
        binary.write_text("#!/bin/sh\nexit 3\n")
        binary.chmod(0o755)
    return replace(engine, plugin_mirror=tmp_path / "mirror")


def test_a_provider_that_ends_at_its_start_is_told_from_a_failure(
    make_stack: MakeStack, broken_provider: Engine, tmp_path: Path
) -> None:
    made = make_stack(
        {
            "main.tf": "terraform {\n  required_providers {\n"
            '    kubectl = { source = "gavinbunney/kubectl" }\n  }\n}\n'
            'resource "kubectl_manifest" "a" {\n  yaml_body = "{}"\n}\n',
            ".terraform.lock.hcl": 'provider "registry.terraform.io/gavinbunney/kubectl" {\n'
            '  version = "1.19.0"\n  hashes  = ["h1:of-another-build"]\n}\n'
            'provider "registry.opentofu.org/gavinbunney/kubectl" {\n'
            '  version = "1.19.0"\n  hashes  = ["h1:of-another-build"]\n}\n',
        }
    )
    environment = engine_environment(
        broken_provider, work_dir=tmp_path, extra={}, ambient=os.environ
    )
    stack = Stack(
        broken_provider,
        work_dir=made.work_dir,
        environment=environment,
        log_path=tmp_path / "broken.log",
    )
    stack.init()

    with pytest.raises(TerraformOutcomeError) as caught:
        stack.plan()

    assert caught.value.outcome is Outcome.PROVIDER_CRASHED
    assert str(caught.value).startswith(f"{broken_provider.name} plan: a provider's process ended:")


#: Made side by side, and each whole a little later: what ends saves a state that names the others.
_WITNESSED = "".join(
    f'resource "terraform_data" "r{number}" {{\n  provisioner "local-exec" {{\n'
    f'    command = "sleep 0.{number + 1}; echo ${{self.id}} > ../witness-{number}"\n  }}\n}}\n'
    for number in range(6)
)

_APPLY = """
import json, sys
from pathlib import Path
from harness.terraform.engine import Engine
from harness.terraform.stack import Stack
path, work_dir, environment = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
engine = Engine(path=Path(path), name="engine", version="1.11.4", plugin_mirror=None)
stack = Stack(engine, work_dir=work_dir, environment=environment, log_path=work_dir / "killed.log")
stack.apply()
"""

#: Seconds after an apply has said what it does in which the kill of its harness falls.
_KILL_WITHIN_S = 0.8


@pytest.fixture
def killed_applies(make_stack: MakeStack, engine: Engine, environment: Mapping[str, str]) -> Stack:
    """A stack of which six applies in a row were killed with their harness, at random moments."""
    stack = make_stack({"main.tf": _WITNESSED})
    stack.init()
    chance = random.Random(os.getpid())  # noqa: S311 - moments, not secrets
    argv = [sys.executable, "-c", _APPLY, str(engine.path), str(stack.work_dir)]
    for number in range(1, 7):
        with subprocess.Popen(
            [*argv, json.dumps(dict(environment))],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as harness:
            _await_planned(stack, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                harness.wait(chance.uniform(0, _KILL_WITHIN_S))
            harness.send_signal(signal.SIGKILL)
    return stack


def _await_planned(stack: Stack, times: int) -> None:
    journal = stack.work_dir / "journal.jsonl"
    wait_until(
        lambda: journal.read_text().count('"planned"') if journal.exists() else 0,
        lambda said: said >= times,
        what="what the apply does",
        timeout_s=20,
    )


def test_after_kills_at_random_moments_every_resource_is_one_that_was_made_whole(
    killed_applies: Stack,
) -> None:
    stack = killed_applies
    # The engine dies with its harness, a moment later.
    plan = wait_until(
        lambda: _planned(stack), lambda found: found is not None, what="the lock", timeout_s=10
    )
    assert plan is not None

    stack.apply(plan)

    state = json.loads((stack.module_dir / "terraform.tfstate").read_text())
    made = {one["name"]: one["instances"][0]["attributes"]["id"] for one in state["resources"]}
    witnessed = {
        f"r{number}": (stack.module_dir.parent / f"witness-{number}").read_text().strip()
        for number in range(6)
    }
    assert made == witnessed
    assert stack.unaccounted == ()
    stack.destroy()
    assert stack.resources == ()


def _planned(stack: Stack) -> Plan | None:
    try:
        return stack.plan()
    except TerraformOutcomeError as error:
        if error.outcome is not Outcome.LOCKED:
            raise
        return None
