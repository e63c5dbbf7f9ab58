"""What decides the name of a node image, when one is found, and who may build one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from harness.cluster.images.node import ensure_node_image, find_node_image, image_key
from harness.cluster.images.places import (
    default_images_dir,
    outdated,
    remove_abandoned,
    remove_outdated,
)
from harness.cluster.toolchain import Toolchain
from harness.core.files import write_json
from harness.core.scratch import make_scratch
from harness.errors import PrerequisiteError
from tests.unit.cluster.fakes import FakePrograms

ROOT = Path(__file__).resolve().parents[4]


def _toolchain(tmp_path: Path, root: Path = ROOT) -> Toolchain:
    return Toolchain(
        root=root,
        cache_dir=tmp_path / "toolchain",
        environ={"PATH": ""},
        progress=lambda _: None,
        ask=FakePrograms().ask,
    )


def _keep(toolchain: Toolchain, images_dir: Path) -> Path:
    key = image_key(toolchain, images_dir)
    archive = images_dir / f"node-{toolchain.pinned('kubelet')}-{key}.tar"
    archive.parent.mkdir(exist_ok=True)
    archive.touch()
    record = {"reference": "localhost/strandline-node:x", "versions": {"kubernetes": "1.37.2"}}
    write_json(archive.with_suffix(".json"), record)
    return archive


@pytest.mark.parametrize("changed", ["node/go.mod", "kind/go.sum", "coredns/main.go"])
def test_another_pin_or_source_is_another_image(tmp_path: Path, changed: str) -> None:
    root = tmp_path / "root"
    shutil.copytree(ROOT / "toolchain", root / "toolchain")
    before = image_key(_toolchain(tmp_path, root), tmp_path)

    with (root / "toolchain" / changed).open("a") as file:
        file.write("\n")

    assert image_key(_toolchain(tmp_path, root), tmp_path) != before


def test_a_group_that_is_in_no_node_changes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(ROOT / "toolchain", root / "toolchain")
    before = image_key(_toolchain(tmp_path, root), tmp_path / "a")

    with (root / "toolchain" / "opentofu" / "go.sum").open("a") as file:
        file.write("\n")

    assert image_key(_toolchain(tmp_path, root), tmp_path / "b") == before


def test_an_image_is_found_only_when_both_of_its_files_are_there(tmp_path: Path) -> None:
    toolchain = _toolchain(tmp_path)
    images_dir = tmp_path / "images"
    nothing = find_node_image(toolchain, images_dir)
    archive = _keep(toolchain, images_dir)

    found = find_node_image(toolchain, images_dir)
    archive.with_suffix(".json").unlink()
    half = find_node_image(toolchain, images_dir)

    assert (nothing, half) == (None, None)
    assert found is not None
    assert (found.reference, found.archive) == ("localhost/strandline-node:x", archive)
    assert found.versions == {"kubernetes": "1.37.2"}


def test_an_image_that_is_there_is_given_to_anybody(tmp_path: Path) -> None:
    toolchain = _toolchain(tmp_path)
    archive = _keep(toolchain, tmp_path / "images")

    image = ensure_node_image(toolchain, tmp_path / "images", _refuse, user_id=1000)

    assert image.archive == archive


def test_an_image_that_is_not_there_is_built_by_root_only(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        ensure_node_image(_toolchain(tmp_path), tmp_path / "images", _refuse, user_id=1000)

    assert str(caught.value) == (
        "the node image can be made by root only (owners of files, mounts); this is user 1000"
    )
    assert not (tmp_path / "images").exists()


def test_the_newest_two_are_kept_and_the_one_in_use_whatever_its_age(tmp_path: Path) -> None:
    archives = [tmp_path / f"node-1.37.2-{n}.tar" for n in range(4)]
    for age, path in enumerate(archives):
        path.touch()
        os.utime(path, ns=(0, 10 - age))
    (tmp_path / "lab-1.tar").touch()

    assert outdated(tmp_path, "node-*.tar", keep=archives[0], count=2) == archives[2:]
    assert outdated(tmp_path, "node-*.tar", keep=archives[3], count=2) == archives[1:3]


def test_an_archive_goes_with_its_record_and_its_lock_stays(tmp_path: Path) -> None:
    for n in range(3):
        for suffix in ("tar", "json", "lock"):
            (tmp_path / f"node-{n}.{suffix}").touch()

    remove_outdated(tmp_path, "node-*.tar", keep=tmp_path / "node-1.tar", count=1)

    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["node-0.lock", "node-1.json", "node-1.lock", "node-1.tar", "node-2.lock"]


def test_folders_of_builds_that_go_on_are_left_alone(tmp_path: Path) -> None:
    mine = make_scratch("node", parent_dir=tmp_path)
    dead = tmp_path / "strandline-node-4194304.1-abc"
    dead.mkdir()

    removed = remove_abandoned(tmp_path)

    assert removed == (dead,)
    assert list(tmp_path.iterdir()) == [mine]


def test_images_are_kept_in_the_users_cache() -> None:
    assert default_images_dir({"XDG_CACHE_HOME": "/x"}) == Path("/x/strandline/images")
    assert default_images_dir({}) == Path.home() / ".cache" / "strandline" / "images"


def _refuse(line: str) -> None:
    raise AssertionError(line)
