"""What a stack does after its engine, its harness or its state backend went away, for real."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from harness.core.waiting import wait_until
from harness.errors import TerraformError
from harness.terraform.engine import Engine
from harness.terraform.outcomes import Outcome, TerraformOutcomeError
from harness.terraform.plans import Plan
from harness.terraform.stack import Stack

MakeStack = Callable[..., Stack]

#: `after` ends while `slow` is being made, and so writes a state in which `slow` looks whole.
_FILES = {
    "variables.tf": 'variable "nap" {\n  type = number\n}\n',
    "main.tf": 'resource "terraform_data" "slow" {\n'
    '  provisioner "local-exec" { command = "echo $PPID > engine.pid; sleep ${var.nap}" }\n}\n'
    'resource "terraform_data" "after" {\n'
    '  provisioner "local-exec" { command = "sleep 0.5" }\n}\n'
    'resource "terraform_data" "last" {\n  depends_on = [terraform_data.slow]\n}\n',
}


def _made_anew(plan: Plan) -> set[str]:
    """Terraform saves as it goes, OpenTofu seldom: what is lost is created, the rest replaced."""
    return {change.address for change in plan.changes if "create" in change.actions}


def _wait_for_after(work_dir: Path) -> None:
    journal = work_dir / "journal.jsonl"
    wait_until(
        lambda: journal.read_text() if journal.exists() else "",
        lambda text: '"settled":"terraform_data.after"' in text,
        what="the resource that ends later",
        timeout_s=20,
    )


def _make_good(stack: Stack) -> None:
    """Let the next apply be quick, and prove that it puts everything right."""
    (stack.work_dir / "vars.tfvars.json").write_text('{"nap": 0}')
    stack.apply(stack.plan())
    assert stack.plan().replaced == ()
    assert stack.drift() == ()
    stack.destroy()
    assert stack.resources == ()


def test_what_a_killed_apply_had_in_flight_is_replaced(make_stack: MakeStack) -> None:
    stack = make_stack(_FILES, {"nap": 60})
    stack.init()
    stale = stack.plan()
    raised: list[BaseException] = []

    def apply() -> None:
        try:
            stack.apply(stale)
        except TerraformOutcomeError as error:
            raised.append(error)

    applying = threading.Thread(target=apply)
    applying.start()
    _wait_for_after(stack.work_dir)
    os.kill(int((stack.module_dir / "engine.pid").read_text()), signal.SIGKILL)
    applying.join()
    state = (stack.module_dir / "terraform.tfstate").read_text()
    lock_left = (stack.module_dir / ".terraform.tfstate.lock.info").exists()
    plan = stack.plan()

    assert [getattr(error, "outcome", None) for error in raised] == [Outcome.KILLED]
    assert lock_left, "a file that says who held the lock, and holds none"
    assert "tainted" not in state, "the trap: the state says that all of it is whole"
    assert plan.replaced == ("terraform_data.last", "terraform_data.slow")
    assert _made_anew(plan) >= {"terraform_data.last", "terraform_data.slow"}
    with pytest.raises(TerraformError, match="plan trusts what a killed apply left"):
        stack.apply(stale)
    _make_good(stack)


_APPLY_SCRIPT = """
import json, sys
from pathlib import Path
from harness.terraform.engine import Engine
from harness.terraform.plans import Plan
from harness.terraform.stack import Stack
path, work_dir, environment = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
engine = Engine(path=Path(path), name="terraform", version="1.11.4", plugin_mirror=None)
stack = Stack(
    engine, work_dir=work_dir, environment=environment, log_path=work_dir / "first.log"
)
stack.apply(stack.plan())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_apply_whose_harness_ended_is_not_trusted_and_leaves_no_process(
    make_stack: MakeStack, engine: Engine, environment: Mapping[str, str], number: signal.Signals
) -> None:
    stack = make_stack(_FILES, {"nap": 60})
    stack.init()
    argv = [sys.executable, "-c", _APPLY_SCRIPT, str(engine.path), str(stack.work_dir)]

    with subprocess.Popen(
        [*argv, json.dumps(dict(environment))], stderr=subprocess.PIPE, start_new_session=True
    ) as harness:
        _wait_for_after(stack.work_dir)
        engine_pid = int((stack.module_dir / "engine.pid").read_text())
        harness.send_signal(number)
        harness.communicate(timeout=20)
    wait_until(
        lambda: Path(f"/proc/{engine_pid}").exists(),
        lambda there: not there,
        what="the end of the engine",
        timeout_s=10,
    )
    plan = stack.plan()

    assert _made_anew(plan) >= {"terraform_data.last", "terraform_data.slow"}
    _make_good(stack)


class _StateServer(HTTPServer):
    """An http backend that refuses to store the state while told so."""

    state: bytes | None = None
    refusing = False


class _StateHandler(BaseHTTPRequestHandler):
    server: _StateServer

    def do_GET(self) -> None:
        self._answer(200 if self.server.state else 404, self.server.state or b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.refusing:
            self._answer(400, b"")
            return
        self.server.state = body
        self._answer(200, b"")

    def _answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's own name
        """Say nothing."""


@pytest.fixture
def state_server() -> Iterator[_StateServer]:
    with _StateServer(("127.0.0.1", 0), _StateHandler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield server
        server.shutdown()
        serving.join()


def test_a_state_that_could_not_be_stored_is_pushed_back_before_anything_else(
    make_stack: MakeStack, state_server: _StateServer
) -> None:
    address = f"http://127.0.0.1:{state_server.server_port}/state"
    stack = make_stack(
        {
            "main.tf": 'terraform {\n  backend "http" {\n    retry_max = 0\n'
            f'    address = "{address}"\n  }}\n}}\n'
            'resource "terraform_data" "kept" {}\n'
        }
    )
    stack.init()
    plan = stack.plan()
    state_server.refusing = True
    with pytest.raises(TerraformOutcomeError) as caught:
        stack.apply(plan)
    left_behind = (stack.module_dir / "errored.tfstate").exists()
    state_server.refusing = False

    resources = stack.resources

    assert caught.value.outcome is Outcome.STATE_UNWRITTEN
    assert left_behind
    assert resources == ("terraform_data.kept",)
    assert not (stack.module_dir / "errored.tfstate").exists()
    assert stack.plan().changes == ()
    stack.destroy()
    assert stack.resources == ()
