"""Temporary folders that say whose they are."""

from __future__ import annotations

from pathlib import Path

from harness.core.scratch import abandoned_scratch, make_scratch, remove_scratch, scratch_folder


def test_a_scratch_folder_is_private_and_gone_after_the_block() -> None:
    with scratch_folder("test") as folder:
        mode = folder.stat().st_mode & 0o777

    assert mode == 0o700
    assert not folder.exists()


def test_a_folder_of_a_live_process_is_nobody_elses_to_remove(tmp_path: Path) -> None:
    make_scratch("test", parent_dir=tmp_path)

    assert abandoned_scratch(tmp_path) == ()


def test_a_folder_whose_maker_is_gone_is_found(tmp_path: Path) -> None:
    # The same pid, and a start time that no process of it has.
    mine = make_scratch("test", parent_dir=tmp_path)
    pid = mine.name.split("-")[2].split(".")[0]
    gone = tmp_path / f"strandline-test-{pid}.1-x"
    gone.mkdir()

    assert abandoned_scratch(tmp_path) == (gone,)


def test_other_folders_and_links_are_never_found(tmp_path: Path) -> None:
    (tmp_path / "strandline-notes").mkdir()
    (tmp_path / "strandline-test-1.1-link").symlink_to(tmp_path / "strandline-notes")

    assert abandoned_scratch(tmp_path) == ()


def test_a_folder_without_rights_is_removed_all_the_same(tmp_path: Path) -> None:
    folder = make_scratch("test", parent_dir=tmp_path)
    (folder / "closed").mkdir()
    (folder / "closed" / "file").write_text("x")
    (folder / "closed").chmod(0)

    remove_scratch(folder)

    assert not folder.exists()
