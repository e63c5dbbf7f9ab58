"""What stands on a cluster: when it is the same, and when nothing else may be put there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.bench.record import RECORD_FILE, Record, digests, mark_begun, read_record
from harness.errors import ClusterError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A stack with a module of its own and one policy."""
    root = tmp_path.resolve()
    files = {
        "stack/main.tf": 'module "net" { source = "../net" }\n',
        "net/main.tf": "locals {}\n",
        "policies/p/policy.yaml": "kind: P\n",
        "policies/p/spec.yaml": "kind: S\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def _record(project: Path, *, laboratory: bool = False, **overrides: object) -> Record:
    stack_dir, policies_dir = project / "stack", project / "policies"
    return Record(
        stack_dir=stack_dir,
        policies_dir=policies_dir,
        overrides=overrides,
        laboratory=laboratory,
        files=digests(stack_dir, policies_dir),
        complete=True,
    )


def test_a_record_is_read_as_it_was_written_and_only_by_its_owner(project: Path) -> None:
    record = _record(project, size=[1])

    record.write(project, complete=True)

    assert read_record(project) == record
    assert (project / RECORD_FILE).stat().st_mode & 0o777 == 0o600
    assert read_record(project / "stack") is None


def test_what_is_being_taken_down_counts_as_begun_until_it_is_applied_again(project: Path) -> None:
    mark_begun(project)
    assert read_record(project) is None

    _record(project).write(project, complete=True)
    mark_begun(project)

    found = read_record(project)
    assert found is not None
    assert not found.complete
    found.refuse_other(_record(project), cluster="c")


@pytest.mark.parametrize("text", ["{}", '{"digest": "x"}', '{"stack_dir": "a"}'])
def test_a_record_of_another_version_is_a_clear_error(tmp_path: Path, text: str) -> None:
    (tmp_path / RECORD_FILE).write_text(text)

    with pytest.raises(ClusterError) as caught:
        read_record(tmp_path)

    assert caught.value.message == f"{tmp_path / RECORD_FILE}: not a record of this version's"


def test_the_same_is_no_difference(project: Path) -> None:
    _record(project, size=1).refuse_other(_record(project, size=1), cluster="c")


@pytest.mark.parametrize("name", ["stack/main.tf", "net/main.tf", "policies/p/policy.yaml"])
def test_every_file_that_the_stack_is_made_of_counts(project: Path, name: str) -> None:
    before = _record(project)
    (project / name).write_text((project / name).read_text() + "# edited\n")

    change = before.change(_record(project))

    assert Path(name).name in change
    assert change.endswith(f" of {project / 'stack'} has changed since it was provisioned")


@pytest.mark.parametrize(
    "name",
    ["policies/p/spec.yaml", "stack/.terraform/x.tf", "stack/terraform.tfstate", "stack/README.md"],
)
def test_specs_and_what_earlier_runs_left_do_not_count(project: Path, name: str) -> None:
    before = _record(project)
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text("edited\n")

    assert before.change(_record(project)) == ""


def test_specs_in_the_stacks_own_folder_do_not_count_and_policies_there_do(tmp_path: Path) -> None:
    stack_dir = tmp_path.resolve()
    folder = stack_dir / "policies" / "p"
    folder.mkdir(parents=True)
    for name in ("policy.yaml", "spec.yaml"):
        (folder / name).write_text("kind: X\n")

    assert list(digests(stack_dir, stack_dir / "policies")) == ["policies/p/policy.yaml"]


def test_a_value_that_differs_is_named_and_not_shown(project: Path) -> None:
    with pytest.raises(ClusterError) as caught:
        _record(project, token="a").refuse_other(_record(project, token="b"), cluster="c")

    assert caught.value.message == (
        f"cluster c: {project / 'stack'} was provisioned with another value of 'token'"
    )
    assert caught.value.exit_code == 6


def test_another_stack_is_named_also_when_it_is_the_same_to_the_byte(project: Path) -> None:
    standing = _record(project)
    other = replace(standing, stack_dir=project / "copy")

    assert standing.another(other) == f"another stack stands there: {project / 'stack'}"
    assert replace(standing, complete=False).another(other) == (
        f"another stack was begun there: {project / 'stack'}"
    )


def test_other_policies_are_named(project: Path) -> None:
    standing = _record(project)

    found = standing.another(replace(standing, policies_dir=project / "more"))

    stack_dir, policies_dir = project / "stack", project / "policies"
    assert found == f"{stack_dir} stands there with the policies of {policies_dir}"


def test_our_platform_is_the_same_wherever_its_files_lie(project: Path) -> None:
    standing = _record(project, laboratory=True)

    elsewhere = replace(standing, stack_dir=project / "copy", policies_dir=project / "more")

    assert standing.another(elsewhere) == ""
    assert standing.another(replace(standing, laboratory=False)) != ""


def test_a_record_holds_its_folders_as_text(project: Path) -> None:
    _record(project).write(project, complete=False)

    kept = json.loads((project / RECORD_FILE).read_text())

    assert kept["stack_dir"] == str(project / "stack")
    assert kept["complete"] is False
