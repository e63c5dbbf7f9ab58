"""Control planes by name, as far as no process is needed: names, folders, ages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.cluster.embedded.named import age_s, describe, find, names, start, stop
from harness.cluster.embedded.provisioned import NAME
from harness.cluster.home import create_state_dir, reap
from harness.core.files import write_json
from harness.core.identity import ProcessIdentity
from harness.errors import ClusterError, ConfigError

_TICKS = os.sysconf("SC_CLK_TCK")


def _nothing(_nodes: int) -> dict[str, Path]:
    raise AssertionError


@pytest.mark.parametrize("name", ["", "Bad", "a_b", "-a", "a-", "../x", "a" * 41])
def test_a_name_that_is_no_part_of_a_folders_and_a_labels_is_refused(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        start(tmp_path, name, nodes=None, ensure=_nothing, progress=print)

    assert str(caught.value).startswith(f"name {name!r}: ")
    assert list(tmp_path.iterdir()) == []


def test_more_nodes_than_one_machine_plays_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        start(tmp_path, "one", nodes=1001, ensure=_nothing, progress=print)

    assert str(caught.value) == "1001 nodes, between 0 and 1000 expected"


def test_the_cluster_that_carries_a_platform_is_none_of_these(tmp_path: Path) -> None:
    create_state_dir(tmp_path, NAME, owner_pid=os.getpid())

    assert names(tmp_path) == ()
    assert describe(tmp_path, NAME) is None
    assert not stop(tmp_path, NAME)
    assert (tmp_path / "clusters" / NAME).is_dir()


def test_a_name_that_nobody_started_is_an_error_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ClusterError) as caught:
        find(tmp_path, "one")

    assert str(caught.value) == f"no control plane 'one' below {tmp_path}"
    assert caught.value.hint == "run `strandline cluster start --name one` first"
    assert not stop(tmp_path, "one")
    assert list(tmp_path.iterdir()) == []


def test_one_that_comes_up_is_told_apart_from_one_that_ended(tmp_path: Path) -> None:
    state_dir = create_state_dir(tmp_path, "plane-one", owner_pid=os.getpid())
    coming = describe(tmp_path, "one")
    write_json(
        state_dir / "ledger.json",
        {"owner": {"pid": os.getpid(), "started_ticks": 1}, "processes": {}},
    )
    write_json(state_dir / "ended.json", {"reason": "etcd exited 1: no room"})

    ended = describe(tmp_path, "one")

    assert coming is not None
    assert (coming.state, list(coming.pids)) == ("starting", ["supervisor"])
    assert coming.memory_bytes > 0
    assert ended is not None
    assert (ended.state, ended.why, ended.pids) == ("ended", "etcd exited 1: no room", {})
    assert names(tmp_path) == ("one",)
    assert reap(tmp_path) == ("plane-one",)
    assert names(tmp_path) == ()


def test_an_age_comes_from_the_time_since_boot_and_is_never_negative() -> None:
    process = ProcessIdentity(pid=1, started_ticks=100 * _TICKS)

    assert age_s(process, boot_s=160.0) == 60.0
    assert age_s(process, boot_s=99.0) == 0.0
