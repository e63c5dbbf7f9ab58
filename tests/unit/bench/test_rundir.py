"""The folder of a run, its journal, and where the files of a suite are looked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.bench.layout import Layout, find_layout, packaged_root
from harness.bench.rundir import RunDir, RunJournal, create_run_dir, open_run_dir
from harness.core.files import read_json, read_lines
from harness.errors import ConfigError
from tests.unit.core.fakes import FakeClock


def test_a_run_has_a_folder_with_what_was_started(tmp_path: Path) -> None:
    facts = {"run": "r1", "suite": {}, "specs": {}}

    made = create_run_dir(tmp_path / "runs", "r1", facts)

    assert open_run_dir(tmp_path / "runs" / "r1") == made
    assert read_json(made.run_file) == facts


@pytest.mark.parametrize(
    ("facts", "missing"),
    [({"suite": {}}, "no specs"), ({}, "no specs and no suite"), ([], "no specs and no suite")],
    ids=["a run that broke off", "a validation", "a list"],
)
def test_a_run_that_did_not_come_to_its_end_is_refused(
    tmp_path: Path, facts: Any, missing: str
) -> None:
    made = create_run_dir(tmp_path, "r1", facts)

    with pytest.raises(ConfigError) as caught:
        open_run_dir(made.path)

    assert str(caught.value) == f"{made.run_file}: {missing}, expected a finished run"


def test_a_run_is_never_begun_in_a_folder_that_is_there(tmp_path: Path) -> None:
    create_run_dir(tmp_path, "r1", {})

    with pytest.raises(FileExistsError):
        create_run_dir(tmp_path, "r1", {})


def test_a_folder_that_is_no_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        open_run_dir(tmp_path)

    assert str(caught.value) == f"{tmp_path}: no run.json, expected the folder of a run"


def test_attempts_are_sorted_by_task_and_by_number_not_by_its_digits(tmp_path: Path) -> None:
    run_dir = RunDir(path=tmp_path)
    for task, number in (("b", 1), ("a", 10), ("a", 2)):
        run_dir.attempt(task, number).evidence.mkdir(parents=True)
    run_dir.attempt("a", 3).path.mkdir()

    found = [str(bundle.path.relative_to(tmp_path)) for bundle in run_dir.attempts()]

    assert found == ["attempts/a/2", "attempts/a/10", "attempts/b/1"]


def test_what_a_stranger_put_beside_the_attempts_is_passed_over(tmp_path: Path) -> None:
    run_dir = RunDir(path=tmp_path)
    (tmp_path / "attempts" / "a" / "notes" / "evidence").mkdir(parents=True)

    assert run_dir.attempts() == ()


def test_a_journal_has_each_event_with_its_time(tmp_path: Path) -> None:
    clock = FakeClock()
    journal = RunJournal(tmp_path / "journal.jsonl", clock=clock)

    journal.write("begun", phase="act")
    clock.sleep(1.5)
    journal.write("ended")

    assert list(read_lines(tmp_path / "journal.jsonl")) == [
        {"at": "2026-01-01T00:00:00.000+00:00", "event": "begun", "phase": "act"},
        {"at": "2026-01-01T00:00:01.500+00:00", "event": "ended"},
    ]


def test_an_explicit_root_wins_over_the_working_directory(tmp_path: Path) -> None:
    for name in ("given", "here"):
        (tmp_path / name / "tf" / "stacks").mkdir(parents=True)

    assert find_layout(tmp_path / "given", tmp_path / "here").root == tmp_path / "given"
    assert find_layout(None, tmp_path / "here").root == tmp_path / "here"
    assert find_layout(None, tmp_path).root == packaged_root()


def test_an_explicit_root_without_stacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find_layout(tmp_path, tmp_path)

    assert str(caught.value).startswith(f"{tmp_path}: no tf/stacks")
    assert caught.value.hint == "correct --root"


def test_a_root_without_a_toolchain_uses_the_one_that_came_with_the_package(
    tmp_path: Path,
) -> None:
    layout = Layout(root=tmp_path)
    assert layout.toolchain_root == packaged_root()

    (tmp_path / "toolchain").mkdir()

    assert layout.toolchain_root == tmp_path
