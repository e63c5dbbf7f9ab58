"""Which cases are awaited, which files are ours, and when a run did not pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import SpecError
from harness.pytest_plugin.choice import Choice
from harness.pytest_plugin.items import SpecFile, due_cases
from harness.pytest_plugin.spec_session import SpecSession, runnable_specs
from tests.unit.pytest_plugin.fakes import loaded_of
from tests.unit.specs.fakes import case_of


def _silent(text: str) -> None:
    raise AssertionError(text)


def _session(folder: Path) -> SpecSession:
    choice = Choice(cluster="embedded", stack_dir=folder, effect_timeout_s=15, working_dir=folder)
    return SpecSession(choice, _silent)


def test_what_is_awaited_is_what_was_selected_and_can_be_judged() -> None:
    loaded = loaded_of(
        case_of(name="selected"),
        case_of(name="lacks nodes", requires=["nodes"]),
        case_of(name="of an attempt", where=["attempt"]),
        case_of(name="later", when=["after"]),
        case_of(name="left out"),
    )
    selected = [due for due in due_cases(loaded) if due.case.name != "left out"]

    (awaited,) = runnable_specs(selected, frozenset({"audit"}))

    assert [case.name for case in awaited.spec.spec.cases] == ["selected"]
    assert awaited.path == loaded.path


def test_nothing_is_awaited_where_nothing_can_be_judged() -> None:
    selected = due_cases(loaded_of(case_of(requires=["nodes"])))

    assert runnable_specs(selected, frozenset()) == ()


@pytest.mark.parametrize(
    ("name", "text", "ours"),
    [
        ("spec.yaml", "kind: SafetySpec\n", True),
        ("spec.yaml", "apiVersion: strandline.dev/v2\nkind: SaftySpec\n", True),
        ("spec.yaml", "kind: [SafetySpec\n", True),
        ("spec.yaml", "openapi: 3.1.0\n", False),
        ("specs.yaml", "kind: SafetySpec\n", False),
    ],
)
def test_a_spec_file_is_ours_when_it_says_so_even_where_it_is_wrong(
    tmp_path: Path,
    request: pytest.FixtureRequest,
    name: str,
    text: str,
    ours: bool,  # noqa: FBT001 - a column of the table
) -> None:
    path = tmp_path / name
    path.write_text(text)

    found = _session(tmp_path).pytest_collect_file(path, request.session)

    assert isinstance(found, SpecFile) is ours


def test_specs_of_two_folders_of_policies_prove_no_one_stack(tmp_path: Path) -> None:
    session = _session(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name / "a-spec").mkdir(parents=True)
    with pytest.raises(SpecError, match="No such file"):
        session.load(tmp_path / "one" / "a-spec")

    with pytest.raises(SpecError) as caught:
        session.load(tmp_path / "two" / "a-spec")

    where = tmp_path / "two" / "a-spec" / "spec.yaml"
    assert str(caught.value) == f"{where}: not in {tmp_path / 'one'}, as the specs before it"


def test_a_spec_file_that_cannot_be_read_is_told_of_and_not_left_out(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "a-spec" / "spec.yaml"
    path.mkdir(parents=True)

    found = _session(tmp_path).pytest_collect_file(path, request.session)

    assert isinstance(found, SpecFile)
    with pytest.raises(pytest.Collector.CollectError, match="Is a directory"):
        list(found.collect())
