"""Folders of clusters: whose they are, and what happens to one whose owner is gone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from harness.cluster.embedded.provisioned import find_provisioned, teardown
from harness.cluster.home import (
    create_state_dir,
    default_home,
    end_processes,
    read_ledger,
    reap,
    stale_state_dirs,
    write_ledger,
)
from harness.core.identity import identify
from harness.core.waiting import wait_until
from harness.errors import PrerequisiteError
from tests.unit.core.fakes import FakeClock

#: Above the largest pid that Linux gives (pid_max is at most 2^22).
_NO_PID = 2**22 + 1


def _disown(state_dir: Path) -> None:
    value = json.loads((state_dir / "ledger.json").read_text())
    value["owner"] = {"pid": os.getpid(), "started_ticks": 1}
    (state_dir / "ledger.json").write_text(json.dumps(value))


def test_the_home_is_named_or_in_the_working_directory() -> None:
    assert default_home({}, Path("/w")) == Path("/w/.strandline")
    assert default_home({"STRANDLINE_HOME": "/h"}, Path("/w")) == Path("/h")
    assert default_home({"STRANDLINE_HOME": "h"}, Path("/w")) == Path("/w/h")


def test_a_new_folder_is_private_and_names_its_owner(tmp_path: Path) -> None:
    state_dir = create_state_dir(tmp_path, "one", owner_pid=os.getpid())

    ledger = read_ledger(state_dir)
    assert ledger is not None
    assert ledger.owner == identify(os.getpid())
    assert state_dir.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / ".gitignore").read_text() == "*\n"


def test_a_name_is_given_once(tmp_path: Path) -> None:
    create_state_dir(tmp_path, "one", owner_pid=os.getpid())

    with pytest.raises(OSError, match="one"):
        create_state_dir(tmp_path, "one", owner_pid=os.getpid())

    assert [path.name for path in (tmp_path / "clusters").iterdir()] == ["one"]


def test_a_folder_is_stale_when_another_process_has_its_owners_pid(tmp_path: Path) -> None:
    kept = create_state_dir(tmp_path, "kept", owner_pid=os.getpid())
    stale = create_state_dir(tmp_path, "stale", owner_pid=os.getpid())
    _disown(stale)

    assert stale_state_dirs(tmp_path) == (stale,)
    assert reap(tmp_path) == ("stale",)
    assert reap(tmp_path) == ()
    assert kept.is_dir()
    assert not stale.exists()


def test_a_process_that_only_has_the_same_pid_is_never_signalled(tmp_path: Path) -> None:
    state_dir = create_state_dir(tmp_path, "one", owner_pid=os.getpid())
    value = json.loads((state_dir / "ledger.json").read_text())
    value["processes"] = {"etcd": {"pid": os.getpid(), "started_ticks": 1}}
    (state_dir / "ledger.json").write_text(json.dumps(value))
    _disown(state_dir)

    assert reap(tmp_path) == ("one",)


def test_a_folder_without_a_ledger_is_given_time_to_get_one(tmp_path: Path) -> None:
    young, old = (tmp_path / "clusters" / name for name in ("young", "old"))
    for folder in (young, old):
        folder.mkdir(parents=True)
    os.utime(old, (1, 1))

    assert stale_state_dirs(tmp_path) == (old,)


def test_a_home_that_is_not_there_has_nothing_stale(tmp_path: Path) -> None:
    home = tmp_path / "none"

    teardown(home)

    assert stale_state_dirs(home) == ()
    assert find_provisioned(home) is None
    assert not home.exists()


def test_processes_that_are_gone_are_left_out_of_a_ledger(tmp_path: Path) -> None:
    write_ledger(tmp_path, {"here": os.getpid(), "gone": _NO_PID}, owner_pid=os.getpid())

    ledger = read_ledger(tmp_path)
    assert ledger is not None
    assert list(ledger.processes) == ["here"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"owner": null, "processes": {}}'])
def test_a_ledger_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "ledger.json").write_text(text)

    assert read_ledger(tmp_path) is None


def test_a_folder_that_is_being_made_is_left_to_its_maker_whatever_the_clock_says(
    tmp_path: Path,
) -> None:
    maker = identify(os.getpid())
    assert maker is not None
    live, dead = (
        tmp_path / "clusters" / f".new-{os.getpid()}-{ticks}-x"
        for ticks in (maker.started_ticks, maker.started_ticks + 1)
    )
    for folder in (live, dead):
        folder.mkdir(parents=True)
        os.utime(folder, (1, 1))

    assert stale_state_dirs(tmp_path) == (dead,)


def test_a_clock_that_was_set_back_makes_nothing_old_and_ends_no_live_owner(tmp_path: Path) -> None:
    unowned = tmp_path / "clusters" / "unowned"
    unowned.mkdir(parents=True)
    create_state_dir(tmp_path, "owned", owner_pid=os.getpid())
    tomorrow, long_ago, later = FakeClock(), FakeClock(), FakeClock()
    made_s = tomorrow.now().timestamp()
    later.sleep(3600)
    for folder in (tmp_path / "clusters").iterdir():
        os.utime(folder, (made_s, made_s))
    os.utime(unowned, (made_s + 86400, made_s + 86400))

    before = stale_state_dirs(tmp_path, clock=long_ago)
    os.utime(unowned, (made_s, made_s))
    after = stale_state_dirs(tmp_path, clock=later)

    assert before == ()
    assert after == (unowned,)


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    home = tmp_path / "file" / "home"

    with pytest.raises(PrerequisiteError) as caught:
        create_state_dir(home, "one", owner_pid=os.getpid())

    assert str(caught.value) == f"{home}: no place for a cluster's state: Not a directory"
    assert caught.value.hint == "set STRANDLINE_HOME to a folder that can be written"


def test_a_process_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    deaf = tmp_path / "deaf"
    script = f"trap '' TERM; touch {deaf}; while :; do read -r _; done"
    with subprocess.Popen(["/bin/sh", "-c", script], stdin=subprocess.PIPE) as process:
        wait_until(deaf.exists, bool, what="the process", timeout_s=10, interval_s=0.01)
        identity = identify(process.pid)
        assert identity is not None

        left = end_processes({"deaf": identity}, timeout_s=0.2)

    assert left == []
    assert process.returncode == -signal.SIGKILL
