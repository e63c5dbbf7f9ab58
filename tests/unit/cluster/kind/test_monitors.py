"""Which processes hold a node, when the engine does not say so."""

from __future__ import annotations

from pathlib import Path

from harness.cluster.kind.monitors import end_unknown, monitors_of


def _process(proc_dir: Path, pid: int, *argv: str) -> None:
    folder = proc_dir / str(pid)
    folder.mkdir(parents=True)
    (folder / "cmdline").write_text("\0".join(argv) + "\0")


def test_a_node_is_held_by_the_monitor_that_names_it(tmp_path: Path) -> None:
    _process(tmp_path, 11, "/usr/bin/conmon", "-c", "id", "-n", "strandline-a", "-s")
    _process(tmp_path, 12, "/usr/bin/conmon", "-c", "id", "-n", "strandline-a-b", "-s")
    _process(tmp_path, 13, "/bin/sh", "-n", "strandline-a")

    assert monitors_of("strandline-a", proc_dir=tmp_path) == (11,)


def test_a_node_that_nobody_holds_has_nothing_to_end(tmp_path: Path) -> None:
    assert end_unknown("strandline-a", proc_dir=tmp_path) == ()
