"""The one table, and what is generated from it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from harness.lab.lifecycle import (
    MACHINES,
    RUN,
    TASK,
    allowed,
    definition_with_rules,
    generated_files,
    main,
    transitions,
)
from harness.model.lab import RunState, TaskState

ROOT = Path(__file__).resolve().parents[3]


def test_the_committed_files_are_what_the_table_gives() -> None:
    stale = [path for path, text in generated_files(ROOT).items() if path.read_text() != text]

    assert stale == []


def test_the_table_has_every_state_and_no_other() -> None:
    assert set(RUN.targets) == set(RunState)
    assert set(TASK.targets) == set(TaskState)


def test_the_definitions_know_every_state_and_no_other() -> None:
    for machine in MACHINES:
        path = ROOT / "tf" / "modules" / "lab_api" / "crds" / f"{machine.plural}.yaml"
        schema = yaml.safe_load(path.read_text())["spec"]["versions"][0]["schema"]
        state = schema["openAPIV3Schema"]["properties"]["status"]["properties"]["state"]

        assert sorted(state["enum"]) == sorted(machine.targets)
        assert state["default"] == machine.initial


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (TaskState.INTERVENTION_REQUIRED, TaskState.RUNNING, False),
        (TaskState.INTERVENTION_REQUIRED, TaskState.SUCCEEDED, True),
        (TaskState.FAILED, TaskState.RUNNING, True),
        (TaskState.SUCCEEDED, TaskState.SUCCEEDED, True),
        (TaskState.SUCCEEDED, TaskState.FAILED, False),
    ],
)
def test_a_task_moves_as_the_table_says(
    source: TaskState, target: TaskState, *, expected: bool
) -> None:
    assert allowed(TASK, source, target) is expected


def test_a_run_that_waits_for_a_person_goes_to_failed_only() -> None:
    targets = [row.target for row in transitions(RUN) if row.source == "intervention_required"]

    assert targets == [RunState.FAILED]


def test_every_row_is_the_controllers_to_write() -> None:
    roles = {row.role for machine in MACHINES for row in transitions(machine)}

    assert roles == {"controller"}


def test_a_definition_without_a_block_is_an_error() -> None:
    with pytest.raises(ValueError, match="definition of LabRun: no block"):
        definition_with_rules(RUN, "spec: {}\n")


def test_what_differs_is_named_and_written_only_when_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crds = tmp_path / "tf" / "modules" / "lab_api" / "crds"
    crds.mkdir(parents=True)
    for machine in MACHINES:
        text = "rules:\n  # lifecycle: begin\n  # lifecycle: end\n"
        (crds / f"{machine.plural}.yaml").write_text(text)
    root = ["--root", str(tmp_path)]

    before = main(root)
    written = main([*root, "--write"])
    after = main(root)

    assert (before, written, after) == (1, 0, 0)
    assert "differs: " in capsys.readouterr().out
    rules = yaml.safe_load((crds / "labruns.yaml").read_text())["rules"]
    assert [rule["fieldPath"] for rule in rules] == [".status.state", ".status.state"]
