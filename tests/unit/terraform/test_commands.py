"""What a command's end is, whatever happens to the log; what a stream that lost lines is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.errors import TerraformError
from harness.terraform.commands import Runner, run_command
from harness.terraform.engine import Engine
from harness.terraform.outcomes import Outcome, TerraformOutcomeError
from harness.terraform.stack import Stack
from tests.unit.terraform.fakes import fake_planned, fake_summary


def _engine(folder: Path, *events: Mapping[str, Any], code: int) -> Engine:
    folder.mkdir()
    (folder / "said").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    path = folder / "terraform"
    path.write_text(f'#!/bin/sh\ncat "$(dirname "$0")/said"\nexit {code}\n')
    path.chmod(0o755)
    return Engine(path=path, name="terraform", version="1.11.4", plugin_mirror=None)


@pytest.mark.parametrize(("code", "expected"), [(0, None), (1, Outcome.FAILED)])
def test_a_log_that_cannot_be_written_hides_no_outcome(
    tmp_path: Path, code: int, expected: Outcome | None
) -> None:
    runner = Runner(
        engine=_engine(tmp_path / "engine", code=code),
        work_dir=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        log_path=tmp_path,  # a folder
        secrets=frozenset(),
        grace_s=1.0,
    )

    try:
        runner.run("apply", timeout_s=20.0)
        found = None
    except TerraformOutcomeError as error:
        found = error.outcome

    assert found == expected


def test_what_a_command_printed_is_not_in_its_shown_form(tmp_path: Path) -> None:
    output = {"type": "outputs", "outputs": {"token": {"value": "precious"}}}
    engine = _engine(tmp_path / "engine", output, code=0)

    completed = run_command(
        [str(engine.path)],
        command="terraform apply",
        env={"PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        timeout_s=20.0,
    )

    assert "precious" in completed.stdout
    assert "precious" not in repr(completed)


def _drifted(tmp_path: Path, *addresses: str) -> Stack:
    """Return a stack of which a plan counts two changes, and names these."""
    changes = (fake_planned(address, "update") for address in addresses)
    (tmp_path / "stack").mkdir()
    (tmp_path / "stack" / "main.tf").write_text("")
    return Stack.create(
        _engine(tmp_path / "engine", *changes, fake_summary("plan", change=2), code=2),
        stack_dir=tmp_path / "stack",
        policies_dir=None,
        work_dir=tmp_path / "copy",
        values={},
        environment={"PATH": "/usr/bin:/bin"},
        log_path=tmp_path / "log",
    )


def test_drift_is_what_a_plan_would_put_right(tmp_path: Path) -> None:
    stack = _drifted(tmp_path, "a", "b")

    assert [change.address for change in stack.drift()] == ["a", "b"]


def test_drift_of_which_a_part_was_lost_is_unknown(tmp_path: Path) -> None:
    stack = _drifted(tmp_path, "a")

    with pytest.raises(TerraformError, match="drift is unknown"):
        stack.drift()
