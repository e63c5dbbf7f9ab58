"""Which attempts have a world, who answers for it, and what may be swept."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from harness.bench.ledger import AttemptEntry, begin, entries, remove_empty


def _begin(home: Path, attempt_id: str = "7f3a91c2") -> AttemptEntry:
    return begin(
        home,
        attempt_id=attempt_id,
        run_id="r1",
        namespace=f"lab-{attempt_id}",
        provider="embedded",
        cluster="c1",
    )


def test_what_was_begun_is_found_again_in_order(tmp_path: Path) -> None:
    second, first = _begin(tmp_path, "bb"), _begin(tmp_path, "aa")

    assert list(entries(tmp_path)) == [first, second]
    assert first.namespace == "lab-aa"
    assert first.stack_dir == tmp_path / "attempts" / "aa" / "stack"


def test_an_attempt_of_a_live_harness_is_not_abandoned(tmp_path: Path) -> None:
    entry = _begin(tmp_path)

    assert entry.owner.pid == os.getpid()
    assert not entry.abandoned


def test_an_attempt_is_abandoned_when_another_process_has_its_owners_pid(tmp_path: Path) -> None:
    path = _begin(tmp_path).work_dir / "attempt.json"
    record = json.loads(path.read_text())
    record["owner"]["started_ticks"] -= 1
    path.write_text(json.dumps(record))

    (entry,) = entries(tmp_path)

    assert entry.abandoned


def test_a_record_and_its_folder_are_the_owners_alone(tmp_path: Path) -> None:
    entry = _begin(tmp_path)

    assert stat.S_IMODE(entry.work_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE((entry.work_dir / "attempt.json").stat().st_mode) == 0o600


def test_an_id_is_never_begun_twice(tmp_path: Path) -> None:
    _begin(tmp_path)

    with pytest.raises(FileExistsError):
        _begin(tmp_path)


def test_what_is_removed_is_not_found_again_and_may_be_removed_twice(tmp_path: Path) -> None:
    entry = _begin(tmp_path)
    (entry.work_dir / "stack").mkdir()

    entry.remove()
    entry.remove()

    assert list(entries(tmp_path)) == []
    assert not entry.work_dir.exists()


def test_a_folder_without_a_record_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "attempts" / "stranger").mkdir(parents=True)

    assert list(entries(tmp_path)) == []


def test_a_home_that_is_not_there_has_no_attempts(tmp_path: Path) -> None:
    remove_empty(tmp_path / "home")

    assert list(entries(tmp_path / "home")) == []
    assert not (tmp_path / "home").exists()


def test_a_home_with_nothing_in_it_is_removed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    _begin(home).remove()
    (home / "clusters").mkdir()
    (home / ".gitignore").write_text("*\n")

    remove_empty(home)

    assert not home.exists()


def test_a_home_with_an_attempt_in_it_stays(tmp_path: Path) -> None:
    entry = _begin(tmp_path)

    remove_empty(tmp_path)

    assert list(entries(tmp_path)) == [entry]


def test_a_home_with_a_strangers_file_in_it_stays(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")

    remove_empty(tmp_path)

    assert (tmp_path / "notes").read_text() == "mine"
