"""Where a state is read from, and what is put back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.terraform.commands import Completed
from harness.terraform.outcomes import Outcome, TerraformOutcomeError
from harness.terraform.state_store import StateStore

_STATE = json.dumps({"version": 4, "serial": 2, "lineage": "ours", "resources": []})


class FakeEngine:
    """Answers `state pull` with one text, and takes what is pushed for the new state file."""

    def __init__(self, folder: Path, pulled: str) -> None:
        self._folder, self._pulled = folder, pulled

    def pull(self) -> Completed:
        """Answer."""
        return Completed(outcome=Outcome.DONE, events=(), diagnostics=(), stdout=self._pulled)

    def push(self, path: Path) -> Completed:
        """Store, as the engine does: only where it can read what is there."""
        target = self._folder / "terraform.tfstate"
        if target.exists():
            json.loads(target.read_text())
        target.write_text(path.read_text())
        return self.pull()


def _store(folder: Path, *, backend: str | None = None, pulled: str = "") -> StateStore:
    if backend is not None:
        (folder / ".terraform").mkdir()
        (folder / ".terraform" / "terraform.tfstate").write_text(
            json.dumps({"backend": {"type": backend, "config": {"path": "kept/x.tfstate"}}})
        )
    engine = FakeEngine(folder, pulled)
    return StateStore(work_dir=folder, module_dir=folder, pull=engine.pull, push=engine.push)


def test_a_local_state_is_read_where_the_backend_block_has_it(tmp_path: Path) -> None:
    store = _store(tmp_path, backend="local")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "x.tfstate").write_text(_STATE)

    found = store.read()

    assert found is not None
    assert found.serial == 2
    assert not store.shared


@pytest.mark.parametrize(
    "pulled", ["", "[command] state pull\n", '{"version": 4, "serial": 0, "lineage": ""}']
)
def test_a_backend_that_has_none_has_no_state(tmp_path: Path, pulled: str) -> None:
    store = _store(tmp_path, backend="kubernetes", pulled=pulled)

    assert store.read() is None
    assert store.shared


def test_an_encrypted_file_is_asked_for_through_the_engine(tmp_path: Path) -> None:
    (tmp_path / "terraform.tfstate").write_text('{"serial": 2, "encrypted_data": "x"}')

    found = _store(tmp_path, pulled=_STATE).read()

    assert found is not None
    assert found.lineage == "ours"


def test_a_state_that_was_not_written_takes_the_place_of_a_cut_one(tmp_path: Path) -> None:
    (tmp_path / "terraform.tfstate").write_text(_STATE[:20])
    (tmp_path / "errored.tfstate").write_text(_STATE)
    store = _store(tmp_path)

    recovered = (store.recover(), store.recover())

    assert recovered == (True, False)
    assert (tmp_path / "terraform.tfstate").read_text() == _STATE
    assert (tmp_path / "terraform.tfstate.damaged").read_text() == _STATE[:20]


def test_a_state_that_was_not_written_whole_either_is_not_put_back(tmp_path: Path) -> None:
    (tmp_path / "terraform.tfstate").write_text(_STATE)
    (tmp_path / "errored.tfstate").write_text(_STATE[:20])

    with pytest.raises(TerraformOutcomeError) as caught:
        _store(tmp_path).recover()

    assert caught.value.outcome is Outcome.STATE_DAMAGED
    assert (tmp_path / "terraform.tfstate").read_text() == _STATE
    assert (tmp_path / "errored.tfstate").exists()
