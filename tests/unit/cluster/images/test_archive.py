"""An image's archive: the format that engines take, the same bytes for the same content."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.images.archive import ImageConfig, write_archive
from harness.cluster.images.layer import Copied, Entry, Made, write_layer
from harness.errors import ConfigError


def members(path: Path, entries: list[Entry]) -> dict[str, tarfile.TarInfo]:
    write_layer(path, entries)
    with tarfile.open(path) as tar:
        return {member.name: member for member in tar.getmembers()}


def make_tree(root: Path) -> Path:
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "tool").write_text("#!")
    (root / "bin" / "tool").chmod(0o755)
    (root / "bin" / "link").symlink_to("tool")
    (root / "dev").mkdir()
    (root / "dev" / "null").write_text("")
    return root


def test_an_archive_holds_a_manifest_a_configuration_and_its_layers(tmp_path: Path) -> None:
    base = tmp_path / "base.tar"
    write_layer(base, [Made(destination="/etc/name", content=b"base")])
    config = ImageConfig(
        entrypoint=("/bin/tool",), user="65532", environment={"A": "b"}, architecture="amd64"
    )

    image_id = write_archive(
        tmp_path / "image.tar",
        reference="localhost/thing:1",
        layers=[base, [Made(destination="/tmp", mode=0o1777)]],  # noqa: S108 - a path in the image
        config=config,
    )

    with tarfile.open(tmp_path / "image.tar") as tar:
        read: dict[str, bytes] = {
            name: file.read() for name in tar.getnames() if (file := tar.extractfile(name))
        }
    (manifest,) = json.loads(read["manifest.json"])
    document: dict[str, Any] = json.loads(read[manifest["Config"]])
    digests = [f"sha256:{hashlib.sha256(read[name]).hexdigest()}" for name in manifest["Layers"]]
    assert manifest["RepoTags"] == ["localhost/thing:1"]
    assert document["rootfs"]["diff_ids"] == digests
    assert image_id == f"sha256:{hashlib.sha256(read[manifest['Config']]).hexdigest()}"
    assert document["config"] == {
        "Entrypoint": ["/bin/tool"],
        "Env": ["A=b", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
        "User": "65532",
    }
    assert (document["os"], document["architecture"]) == ("linux", "amd64")
    assert len(document["history"]) == len(manifest["Layers"]) == 2


def test_the_same_content_at_another_time_and_place_is_the_same_archive(tmp_path: Path) -> None:
    for name, stamp in (("a", 1), ("b", 2_000_000_000)):
        tree = make_tree(tmp_path / name / "tree")
        os.utime(tree / "bin" / "tool", (stamp, stamp))
        write_archive(
            tmp_path / name / "image.tar",
            reference="localhost/thing:1",
            layers=[[Copied(source=tree, destination="/")]],
            config=ImageConfig(),
        )

    first, second = (tmp_path / name / "image.tar" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


def test_a_changed_mode_is_another_image(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")

    def write() -> str:
        layers = [[Copied(source=tree, destination="/")]]
        return write_archive(
            tmp_path / "image.tar", reference="r:1", layers=layers, config=ImageConfig()
        )

    before = write()
    (tree / "bin" / "tool").chmod(0o700)

    assert write() != before


def test_a_copied_tree_keeps_modes_and_links_and_belongs_to_root(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")

    found = members(
        tmp_path / "l.tar",
        [Copied(source=tree, destination="/opt/x", leave_out=("dev",))],
    )

    assert " ".join(found) == "opt opt/x opt/x/bin opt/x/bin/link opt/x/bin/tool opt/x/dev"
    assert found["opt/x/bin/tool"].mode == 0o755
    assert found["opt/x/bin/link"].linkname == "tool"
    assert {(one.uid, one.gid, one.mtime, one.uname) for one in found.values()} == {(0, 0, 0, "")}


def test_two_names_of_one_file_are_stored_once(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    (tree / "bin" / "twin").hardlink_to(tree / "bin" / "tool")

    found = members(tmp_path / "l.tar", [Copied(source=tree, destination="/")])

    assert found["bin/tool"].isreg()
    assert (found["bin/twin"].islnk(), found["bin/twin"].linkname) == (True, "bin/tool")


def test_made_entries_are_files_folders_and_links_with_their_parents(tmp_path: Path) -> None:
    found = members(
        tmp_path / "l.tar",
        [
            Made(destination="/run/locks", mode=0o1777),
            Made(destination="/a/b/file", content=b"x"),
            Made(destination="/a/b/link", target="file"),
        ],
    )

    modes = {name: (member.type, member.mode) for name, member in found.items()}
    assert modes == {
        "a": (tarfile.DIRTYPE, 0o755),
        "a/b": (tarfile.DIRTYPE, 0o755),
        "a/b/file": (tarfile.REGTYPE, 0o644),
        "a/b/link": (tarfile.SYMTYPE, 0o777),
        "run": (tarfile.DIRTYPE, 0o755),
        "run/locks": (tarfile.DIRTYPE, 0o1777),
    }


def test_a_source_that_is_not_there_leaves_no_archive(tmp_path: Path) -> None:
    gone = tmp_path / "gone"

    with pytest.raises(ConfigError) as caught:
        write_archive(
            tmp_path / "out" / "image.tar",
            reference="r:1",
            layers=[[Copied(source=gone, destination="/x")]],
            config=ImageConfig(),
        )

    assert str(caught.value) == f"{gone}: not there, though an image is to hold it as '/x'"
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("destination", ["relative", "/a/../b"])
def test_a_destination_outside_of_the_image_is_refused(tmp_path: Path, destination: str) -> None:
    with pytest.raises(ConfigError, match="expected an absolute one without"):
        write_layer(tmp_path / "l.tar", [Made(destination=destination)])
