"""A sweep goes on without a copy that was never whole, not without one that it cannot open."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.bench.session import find_stack
from harness.errors import ConfigError
from harness.terraform.copies import make_copy
from harness.terraform.engine import Engine
from tests.unit.bench.fakes import cluster_of

_ENGINE = Engine(path=Path("terraform"), name="terraform", version="1.11.4", plugin_mirror=None)


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    (tmp_path / "stack").mkdir()
    (tmp_path / "stack" / "main.tf").write_text("")
    make_copy(tmp_path / "stack", None, tmp_path / "copy", {})
    return tmp_path / "copy"


def test_a_whole_copy_is_found(work_dir: Path) -> None:
    found = find_stack(engine=_ENGINE, cluster=cluster_of(work_dir, "x"), work_dir=work_dir)

    assert found is not None
    assert found.work_dir == work_dir


@pytest.mark.parametrize("name", ["copy.json", "vars.tfvars.json"])
def test_a_copy_that_was_cut_off_is_none(work_dir: Path, name: str) -> None:
    (work_dir / name).unlink()

    assert find_stack(engine=_ENGINE, cluster=cluster_of(work_dir, "x"), work_dir=work_dir) is None


def test_a_copy_that_cannot_be_opened_is_an_error(work_dir: Path) -> None:
    (work_dir / "vars.tfvars.json").write_text("{")

    with pytest.raises(ConfigError, match="not JSON"):
        find_stack(engine=_ENGINE, cluster=cluster_of(work_dir, "x"), work_dir=work_dir)
