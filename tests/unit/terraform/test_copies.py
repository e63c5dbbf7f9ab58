"""What a private copy holds, and when a folder is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.files import read_json
from harness.errors import TerraformError
from harness.terraform.commands import Completed
from harness.terraform.copies import find_copy, make_copy
from harness.terraform.outcomes import Outcome


def _root(tmp_path: Path, *names: str) -> Path:
    for name in names:
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "root"


def test_a_copy_keeps_the_layout_and_leaves_out_what_earlier_runs_left(tmp_path: Path) -> None:
    kept = [
        "policies/no-harm/policy.yaml",
        "tf/modules/lab/main.tf",
        "tf/stacks/world/files/note.txt",
        "tf/stacks/world/main.tf",
    ]
    dropped = [
        "policies/no-harm/spec.yaml",
        "tf/modules/lab/.terraform.lock.hcl",
        "tf/stacks/other/main.tf",
        "tf/stacks/world/.terraform/modules.json",
        "tf/stacks/world/errored.tfstate",
        "tf/stacks/world/journal.jsonl",
        "tf/stacks/world/saved.tfplan",
        "tf/stacks/world/terraform.tfstate",
        "tf/stacks/world/terraform.tfstate.backup",
    ]
    root, work_dir = _root(tmp_path, *kept, *dropped), tmp_path / "work"

    module_dir = make_copy(root, "world", work_dir, {"a": None})

    copied = (path for path in work_dir.rglob("*") if path.is_file())
    assert sorted(str(path.relative_to(work_dir)) for path in copied) == [
        *kept,
        "vars.tfvars.json",
    ]
    assert module_dir == find_copy(work_dir) == work_dir / "tf" / "stacks" / "world"
    assert read_json(work_dir / "vars.tfvars.json") == {"a": None}


def test_a_folder_without_a_stack_is_no_copy(tmp_path: Path) -> None:
    with pytest.raises(TerraformError) as caught:
        find_copy(tmp_path)

    assert str(caught.value) == (
        f"{tmp_path}: 0 stacks found, expected one and its vars.tfvars.json"
    )


def test_output_that_is_no_document_is_refused_without_showing_it() -> None:
    completed = Completed(
        outcome=Outcome.DONE, events=(), diagnostics=(), stdout='secret\n{"cut": "sec'
    )

    with pytest.raises(TerraformError) as caught:
        completed.document("terraform output")

    assert str(caught.value) == (
        "terraform output: printed 19 characters, expected one JSON document"
    )
