"""What a private copy holds, and when a folder is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.core.files import read_json
from harness.errors import TerraformError
from harness.terraform.commands import Completed
from harness.terraform.copies import (
    drop_local_locks,
    find_copy,
    local_modules,
    make_copy,
)
from harness.terraform.outcomes import Outcome


def _tree(tmp_path: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "tree"


def _copied(work_dir: Path) -> list[str]:
    copied = (path for path in (work_dir / "source").rglob("*") if path.is_file())
    return sorted(str(path.relative_to(work_dir / "source")) for path in copied)


def test_a_copy_holds_what_the_root_module_names_and_nothing_beside_it(tmp_path: Path) -> None:
    kept = {
        "policies/no-harm/policy.yaml": "kind: Policy",
        "tf/modules/deep/main.tf": "",
        "tf/modules/json/main.tf": "",
        "tf/modules/lab/main.tf": 'module "deep" { source = "../deep" }',
        "tf/stacks/world/.terraform.lock.hcl": "",
        "tf/stacks/world/files/note.txt": "",
        "tf/stacks/world/main.tf": 'module "lab" {\n  source = "../../modules/lab"\n}\n'
        'module "far" {\n  source = "hashicorp/far/local"\n}\n'
        'module "gone" {\n  source = "../gone"\n}\n',
        "tf/stacks/world/more.tf.json": '{"module": {"j": {"source": "../../modules/json"}}}',
    }
    dropped = {
        "policies/no-harm/spec.yaml": "",
        "tf/modules/lab/.terraform/modules.json": "",
        "tf/modules/unnamed/main.tf": "",
        "tf/stacks/other/main.tf": "",
        "tf/stacks/world/.terraform/modules.json": "",
        "tf/stacks/world/errored.tfstate": "",
        "tf/stacks/world/saved.tfplan": "",
        "tf/stacks/world/terraform.tfstate": "",
        "tf/stacks/world/terraform.tfstate.backup": "",
    }
    tree, work_dir = _tree(tmp_path, kept | dropped), tmp_path / "work"

    root_module = make_copy(
        tree / "tf" / "stacks" / "world", tree / "policies", work_dir, {"a": None}
    )

    assert _copied(work_dir) == sorted(kept)
    assert root_module == find_copy(work_dir) == work_dir / "source" / "tf" / "stacks" / "world"
    assert read_json(work_dir / "vars.tfvars.json") == {"a": None}


def test_a_stack_alone_is_copied_alone(tmp_path: Path) -> None:
    tree = _tree(tmp_path, {"main.tf": "", "../beside/main.tf": ""})

    root_module = make_copy(tree, None, tmp_path / "work", {})

    assert root_module == tmp_path / "work" / "source"
    assert _copied(tmp_path / "work") == ["main.tf"]


def test_a_module_that_holds_the_stack_and_the_copy_is_copied_once(tmp_path: Path) -> None:
    files = {
        "examples/whole/main.tf": 'module "it" { source = "../.." }',
        "main.tf": "",
        ".git/config": "",
        "build/other/main.tf": "",
    }
    tree = _tree(tmp_path, files)
    work_dir = tree / "build" / "work"

    root_module = make_copy(tree / "examples" / "whole", None, work_dir, {})

    assert root_module == work_dir / "source" / "examples" / "whole"
    assert _copied(work_dir) == ["build/other/main.tf", "examples/whole/main.tf", "main.tf"]


def test_modules_that_name_each_other_end(tmp_path: Path) -> None:
    tree = _tree(
        tmp_path,
        {
            "a/main.tf": 'module "b" { source = "../b" }',
            "b/main.tf": 'module "a" { source="../a" }',
        },
    )

    assert local_modules(tree / "a") == (tree / "a", tree / "b")


def test_a_folder_without_a_whole_copy_is_none(tmp_path: Path) -> None:
    (tmp_path / "vars.tfvars.json").write_text("{}")

    with pytest.raises(TerraformError) as caught:
        find_copy(tmp_path)

    assert str(caught.value) == (
        f"{tmp_path}: no whole copy of a stack, expected copy.json and vars.tfvars.json"
    )


def test_a_lock_file_loses_the_providers_that_may_be_built_here_and_nothing_else(
    tmp_path: Path,
) -> None:
    head = "# Kept up to date by init.\n\n"
    other = 'provider "registry.terraform.io/hashicorp/null" {\n  version = "3.2.0"\n}\n'
    local = (
        'provider "registry.terraform.io/gavinbunney/kubectl" {\n  version = "1.19.0"\n'
        '  hashes = [\n    "h1:of-another-build",\n  ]\n}\n\n'
    )
    path = tmp_path / ".terraform.lock.hcl"
    path.write_text(head + local + other)

    drop_local_locks(tmp_path)
    drop_local_locks(tmp_path)

    assert path.read_text() == head + other


def test_a_stack_without_a_lock_file_stays_without_one(tmp_path: Path) -> None:
    drop_local_locks(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_output_that_is_no_document_is_refused_without_showing_it() -> None:
    completed = Completed(
        outcome=Outcome.DONE, events=(), diagnostics=(), stdout='secret\n{"cut": "sec'
    )

    with pytest.raises(TerraformError) as caught:
        completed.document("terraform output")

    assert str(caught.value) == (
        "terraform output: printed 19 characters, expected one JSON document"
    )


def test_a_linked_tree_keeps_its_place_beside_what_is_not_linked(tmp_path: Path) -> None:
    files = {
        "tf/stacks/world/main.tf": 'module "lab" { source = "../../modules/lab" }',
        "tf/modules/lab/main.tf": "",
    }
    tree, root = _tree(tmp_path, files), tmp_path / "root"
    (root / "policies" / "own").mkdir(parents=True)
    (root / "policies" / "own" / "policy.yaml").write_text("kind: Policy")
    (root / "tf").symlink_to(tree / "tf")

    make_copy(root / "tf" / "stacks" / "world", root / "policies", tmp_path / "work", {})

    assert _copied(tmp_path / "work") == sorted([*files, "policies/own/policy.yaml"])
    assert local_modules(root / "tf" / "stacks" / "world")[0] == root / "tf" / "stacks" / "world"


def test_a_linked_stack_whose_modules_are_beside_its_target_is_copied_with_them(
    tmp_path: Path,
) -> None:
    files = {
        "stacks/world/main.tf": 'module "lab" { source = "../../modules/lab" }',
        "modules/lab/main.tf": "",
    }
    tree = _tree(tmp_path, files)
    link = tmp_path / "here" / "world"
    link.parent.mkdir()
    link.symlink_to(tree / "stacks" / "world")

    make_copy(link, None, tmp_path / "work", {})

    assert _copied(tmp_path / "work") == sorted(files)
