"""The workflows and the action: what they type exists, and what a caller gives is never code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from harness.cli.main import strandline

ROOT = Path(__file__).resolve().parents[3]

_WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
_ACTION = ROOT / "action.yml"
_SCRIPT = ROOT / ".github" / "run-action"

#: Lines of shell that call the project: after a path, or after an opening quote.
_CALL = re.compile(r"\.venv/bin/strandline ([a-z][^\n|&;>]*)")
_MAKE = re.compile(r"\bmake ((?:[a-z-]+ ?|[A-Z]+=\S+ ?)+)")


def _load(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def _steps(path: Path) -> Iterator[dict[str, Any]]:
    document = _load(path)
    if "runs" in document:
        yield from document["runs"]["steps"]
    for job in document.get("jobs", {}).values():
        yield from job["steps"]


def _scripts() -> list[tuple[str, str]]:
    found = [
        (path.name, step["run"])
        for path in (*_WORKFLOWS, _ACTION)
        for step in _steps(path)
        if "run" in step
    ]
    found += [(name, (ROOT / ".ci" / name).read_text()) for name in ("run", "prepare-kind")]
    return [*found, (_SCRIPT.name, _SCRIPT.read_text())]


def _parse(words: list[str]) -> None:
    """Parse a command line with the real commands, and run nothing."""
    context = click.Context(strandline)
    name, command, rest = strandline.resolve_command(context, words)
    assert command is not None, name
    command.make_context(name, rest, parent=context)


@pytest.mark.parametrize(("name", "script"), _scripts())
def test_every_command_that_is_typed_is_accepted(name: str, script: str) -> None:
    for line in _CALL.findall(script):
        _parse(shlex.split(line.replace("$run", ".").replace('"', "")))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for words in _MAKE.findall(script):
        assert {word for word in words.split() if "=" not in word} <= targets, name


def test_the_step_of_the_action_types_a_command_that_is_accepted() -> None:
    script = _SCRIPT.read_text()
    flags = re.findall(r"--[a-z][a-z-]+", script[script.index("words=(") : script.index("code=0")])
    values = {"--repeats": "2", "--fail-under": "0.5", "--cluster": "kind", "--root": "."}

    _parse(["run", *(word for flag in flags for word in (flag, values.get(flag, "x")))])

    assert {"--agent", "--agent-command", "--suite"} <= set(flags)


def test_the_parser_refuses_what_is_no_option() -> None:
    with pytest.raises(click.UsageError):
        _parse(["run", "--no-such-option"])


@pytest.mark.parametrize(("name", "script"), _scripts())
def test_what_a_caller_gives_never_becomes_text_of_a_script(name: str, script: str) -> None:
    assert not re.search(r"\$\{\{\s*(inputs|github\.event|github\.head_ref)", script), name


def test_every_input_of_the_action_is_used_and_every_one_that_is_used_exists() -> None:
    declared = set(_load(_ACTION)["inputs"])

    used = set(re.findall(r"\$\{\{ inputs\.([a-z-]+) \}\}", _ACTION.read_text()))

    assert used == declared
    assert {"suite", "agent-command", "cluster", "fail-under"} <= declared


def test_the_action_hands_every_input_to_its_script_by_a_variable() -> None:
    (step,) = [step for step in _steps(_ACTION) if step.get("id") == "run"]
    script = _SCRIPT.read_text()

    assert all(f'"${name}"' in script for name in step["env"])


@pytest.mark.parametrize("path", _WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read_and_every_job_ends(path: Path) -> None:
    document = _load(path)

    assert document["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job for job in document["jobs"].values())


def test_the_kind_workflow_proves_the_suite_on_kind_and_keeps_its_reports() -> None:
    steps = list(_steps(ROOT / ".github" / "workflows" / "kind.yml"))
    typed = "\n".join(step["run"] for step in steps if "run" in step)
    (kept,) = [step["with"]["path"] for step in steps if "upload" in step.get("uses", "")]

    assert "make run CLUSTER=kind" in typed
    assert "make verify CLUSTER=kind" in typed
    assert "validate lab-operation" in typed
    assert {"runs/*/report.json", "runs/*/junit.xml"} <= set(kept.split())
