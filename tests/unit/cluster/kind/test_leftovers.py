"""What of kind clusters nobody answers for: found by name, owner and age, and only that."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.cluster.home import create_state_dir, stale_state_dirs, state_dir_of
from harness.cluster.kind.host_settings import HostSettings
from harness.cluster.kind.leftovers import Leftovers, find_leftovers, stale_images, take_down
from harness.cluster.kind.state import (
    ephemeral_name,
    node_name,
    provisioned_name,
)
from harness.cluster.provider import CLUSTER_FILE
from harness.errors import TeardownError
from tests.unit.cluster.kind.fakes import FakeCommands, described, engine, teach_nodes

#: A process that no machine has.
_NOBODY = 2**22 + 1
_NOW = datetime(2026, 11, 30, 5, tzinfo=UTC)
_OLD, _NEW = "2026-11-29T01:00:00.123456789Z", "2026-11-30T04:59:00.123456789Z"
_HOST = HostSettings(notes_dir=None)
_FOREIGN = "strandline-0badcafe-0a1b2c3d-control-plane"


def _find(home: Path, commands: FakeCommands, *, kept: tuple[str, ...] = ()) -> Leftovers:
    return find_leftovers(
        home,
        engine(commands),
        _HOST,
        older_than_s=3600,
        images_dir=home / "images",
        kept_images=kept,
        now=_NOW,
    )


def _teach_volume(commands: FakeCommands, listed: str, *, made: str) -> None:
    commands.teach("podman", "volume", "ls", stdout=listed)
    commands.teach("podman", "volume", "ls", "--quiet", stdout="v1\n")
    commands.teach("podman", "volume", "inspect", stdout=json.dumps([{"CreatedAt": made}]))
    commands.teach("podman", "container", "inspect", _FOREIGN, code=125)


@pytest.fixture
def commands() -> FakeCommands:
    commands = FakeCommands()
    teach_nodes(commands)
    return commands


def _dead(state_dir: Path) -> Path:
    """Let the owner of a folder be dead."""
    (state_dir / "ledger.json").write_text(
        json.dumps({"owner": {"pid": _NOBODY, "started_ticks": 1}, "processes": {}})
    )
    return state_dir


def test_a_cluster_whose_maker_lives_is_nobodys_leftover(
    tmp_path: Path, commands: FakeCommands
) -> None:
    create_state_dir(tmp_path, ephemeral_name(tmp_path), owner_pid=os.getpid())

    assert _find(tmp_path, commands).lines() == ()


def test_a_cluster_whose_maker_was_killed_is_found_whatever_its_age(
    tmp_path: Path, commands: FakeCommands
) -> None:
    name = ephemeral_name(tmp_path)
    state_dir = _dead(create_state_dir(tmp_path, name, owner_pid=os.getpid()))
    teach_nodes(commands, described(node_name(name), created=_NEW, state_dir=state_dir))

    assert _find(tmp_path, commands).lines() == (f"kind cluster {name}",)


def test_a_provisioned_cluster_outlives_its_maker_for_as_long_as_its_node_runs(
    tmp_path: Path, commands: FakeCommands
) -> None:
    name = provisioned_name(tmp_path)
    state_dir = _dead(create_state_dir(tmp_path, name, owner_pid=os.getpid()))
    (state_dir / CLUSTER_FILE).touch()
    node = described(node_name(name), created=_OLD, state_dir=state_dir)

    teach_nodes(commands, node)
    alive = _find(tmp_path, commands)
    teach_nodes(commands, {**node, "State": {"Running": False}})
    dead = _find(tmp_path, commands)

    assert alive.lines() == ()
    assert dead.lines() == (f"kind cluster {name}",)


def test_a_node_whose_home_is_gone_is_found_once_it_is_old(
    tmp_path: Path, commands: FakeCommands
) -> None:
    gone = tmp_path / "gone"

    teach_nodes(commands, described(_FOREIGN, created=_OLD, state_dir=gone))
    old = _find(tmp_path, commands)
    teach_nodes(commands, described(_FOREIGN, created=_NEW, state_dir=gone))
    new = _find(tmp_path, commands)

    assert old.lines() == (f"node container {_FOREIGN}",)
    assert new.lines() == ()


def test_a_node_of_another_home_that_is_in_use_is_left(
    tmp_path: Path, commands: FakeCommands
) -> None:
    other = tmp_path / "other"
    state_dir = create_state_dir(other, ephemeral_name(other), owner_pid=os.getpid())
    teach_nodes(commands, described(_FOREIGN, created=_OLD, state_dir=state_dir))

    assert _find(tmp_path, commands).lines() == ()


def test_a_container_that_only_begins_like_ours_is_somebodys(
    tmp_path: Path, commands: FakeCommands
) -> None:
    teach_nodes(commands, strangers="strandline-web\nstrandline-control-plane")

    assert _find(tmp_path, commands).lines() == ()
    assert not [words for words in commands.seen if words[1:3] == ("container", "inspect")]


def test_a_volume_without_its_node_is_found_by_its_label(
    tmp_path: Path, commands: FakeCommands
) -> None:
    listed = f'{{"{_FOREIGN}":"true"}}\n{{"mine":"x"}}\nnull\n'
    _teach_volume(commands, listed, made=_OLD)

    assert _find(tmp_path, commands).lines() == (f"volume of the node {_FOREIGN}",)


def test_a_young_volume_may_be_of_a_node_that_is_just_being_made(
    tmp_path: Path, commands: FakeCommands
) -> None:
    _teach_volume(commands, f'{{"{_FOREIGN}":"true"}}\n', made=_NEW)

    assert _find(tmp_path, commands).lines() == ()


def test_a_volume_goes_alone_and_never_with_a_container(commands: FakeCommands) -> None:
    commands.teach("podman", "volume", "ls", "--quiet", stdout="")

    take_down(Leftovers(volumes=(_FOREIGN,)), engine(commands), _HOST)

    assert not [words for words in commands.seen if words[1] == "rm"]


def test_labels_are_read_as_docker_prints_them_too(tmp_path: Path, commands: FakeCommands) -> None:
    _teach_volume(commands, f'"{_FOREIGN}=true,a=b"\n""\n', made=_OLD)

    assert _find(tmp_path, commands).volumes == (_FOREIGN,)


def test_images_of_ours_without_an_archive_go_and_a_named_one_stays(
    tmp_path: Path, commands: FakeCommands
) -> None:
    (tmp_path / "images").mkdir()
    for name in ("lab-aaa.tar", "node-1.37.2-ddd.tar"):
        (tmp_path / "images" / name).touch()
    images = ("lab:aaa", "lab:bbb", "node:1.37.2-ccc", "node:mine")
    listed = "\n".join(f"localhost/strandline-{name}" for name in images)
    commands.teach("podman", "images", stdout=f"{listed}\nregistry.test/node:v1\n")

    found = _find(tmp_path, commands, kept=("localhost/strandline-node:mine",))

    assert found.images == ("localhost/strandline-lab:bbb", "localhost/strandline-node:1.37.2-ccc")


@pytest.mark.parametrize(
    ("archives", "stale"),
    [
        (["node-1-aaa.tar"], ()),
        (["node-1-bbb.tar"], ("localhost/strandline-node:1-aaa",)),
        (["lab-bbb.tar"], ()),
        ([], ()),
    ],
)
def test_an_image_is_stale_only_for_who_has_another_one_of_its_name(
    archives: list[str], stale: tuple[str, ...]
) -> None:
    assert stale_images(["localhost/strandline-node:1-aaa"], archives) == stale


def test_taking_down_ends_the_node_its_volume_and_then_its_folder(
    tmp_path: Path, commands: FakeCommands
) -> None:
    state_dir = _dead(create_state_dir(tmp_path, ephemeral_name(tmp_path), owner_pid=os.getpid()))
    node = node_name(state_dir.name)
    commands.teach("podman", "exec")
    commands.teach("podman", "rm")
    commands.teach("podman", "container", "inspect", code=125)

    take_down(Leftovers(state_dirs=(state_dir,)), engine(commands), _HOST)

    assert ("podman", "rm", "--force", "--volumes", "--time", "0", node) in commands.seen
    assert not state_dir.exists()


def test_a_node_that_stays_keeps_its_folder_and_is_named(
    tmp_path: Path, commands: FakeCommands
) -> None:
    state_dir = _dead(create_state_dir(tmp_path, ephemeral_name(tmp_path), owner_pid=os.getpid()))
    commands.teach("podman", "exec")
    commands.teach("podman", "rm", stderr="Error: device busy", code=125)
    commands.teach("podman", "container", "inspect", stdout="[]")

    with pytest.raises(TeardownError) as caught:
        take_down(Leftovers(state_dirs=(state_dir,)), engine(commands), _HOST)

    assert caught.value.leftovers == (
        f"node container {node_name(state_dir.name)}: Error: device busy",
    )
    assert state_dir.is_dir()


def test_the_folder_of_a_kind_cluster_is_not_for_others_to_reap(tmp_path: Path) -> None:
    name = ephemeral_name(tmp_path)
    _dead(create_state_dir(tmp_path, name, owner_pid=os.getpid()))

    assert state_dir_of(tmp_path, name).is_dir()
    assert stale_state_dirs(tmp_path) == ()


def test_two_homes_have_different_names() -> None:
    assert provisioned_name(Path("/a")) != provisioned_name(Path("/b"))
