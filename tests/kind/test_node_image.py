"""The node image's parts, for real: Debian packages, a containerd store, the finished archive."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from pathlib import Path

import pytest

from harness.cluster.images.archive import ImageConfig, write_archive
from harness.cluster.images.debian import ensure_rootfs
from harness.cluster.images.layer import Copied, Made
from harness.cluster.images.node import NodeImage, ensure_node_image
from harness.cluster.images.node_store import fill_store, store_entries
from harness.cluster.images.places import default_images_dir
from harness.cluster.toolchain import Toolchain, default_cache_dir
from harness.errors import PrerequisiteError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain(
        root=ROOT,
        cache_dir=default_cache_dir(os.environ),
        environ=os.environ,
        progress=lambda _: None,
    )


@pytest.fixture(scope="module")
def binaries(toolchain: Toolchain) -> dict[str, Path]:
    return {path.name: path for path in toolchain.ensure_group("container-runtime").iterdir()}


@pytest.fixture(scope="module")
def node_image(toolchain: Toolchain) -> NodeImage:
    return ensure_node_image(toolchain, default_images_dir(os.environ), lambda _: None)


def test_files_of_a_package_come_with_their_libraries_and_without_what_nobody_reads(
    tmp_path: Path,
) -> None:
    mounts = Path("/proc/self/mounts").read_text()

    tar = ensure_rootfs("test", ["conntrack"], tmp_path, lambda _: None, variant="extract")

    with tarfile.open(tar) as members:
        names = members.getnames()
    assert "./usr/sbin/conntrack" in names
    assert any(name.endswith("/libnetfilter_conntrack.so.3") for name in names)
    assert not [name for name in names if name.startswith(("./usr/share/man/", "./dev/"))]
    assert "./etc/resolv.conf" not in names
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".lock", ".tar"]
    assert Path("/proc/self/mounts").read_text() == mounts


def test_an_unknown_package_is_an_error_that_names_it_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match="strandline-no-such-package"):
        ensure_rootfs(
            "test", ["strandline-no-such-package"], tmp_path, lambda _: None, variant="extract"
        )

    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]


def test_a_store_holds_the_images_that_were_put_in_and_no_process_stays(
    tmp_path: Path, binaries: dict[str, Path]
) -> None:
    archive = tmp_path / "x.tar"
    write_archive(
        archive,
        reference="localhost/x:1",
        layers=[[Made(destination="/x", content=b"x")]],
        config=ImageConfig(entrypoint=("/x",)),
    )

    fill_store(tmp_path / "store", [archive], binaries=binaries)

    entries = store_entries(tmp_path / "store")
    assert all(isinstance(entry, Copied) and entry.source.exists() for entry in entries)
    blobs = list((tmp_path / "store").glob("*/blobs/sha256/*"))
    assert len(blobs) >= 3
    assert all(hashlib.sha256(blob.read_bytes()).hexdigest() == blob.name for blob in blobs)
    left = [path.parent.name for path in Path("/proc").glob("[0-9]*/cmdline") if _is_ours(path)]
    assert left == []


def test_an_archive_that_is_none_is_refused_in_containerds_words(
    tmp_path: Path, binaries: dict[str, Path]
) -> None:
    (tmp_path / "x.tar").write_bytes(b"no tar")

    with pytest.raises(PrerequisiteError, match=r"^ctr exited 1 on x\.tar: "):
        fill_store(tmp_path / "store", [tmp_path / "x.tar"], binaries=binaries)


@pytest.mark.timeout(3600)  # the first time, on an empty cache, it is built here
def test_the_archive_is_an_image_whose_layers_are_what_it_says(node_image: NodeImage) -> None:
    with tarfile.open(node_image.archive) as archive:
        manifest = json.load(_member(archive, "manifest.json"))[0]
        config = json.load(_member(archive, manifest["Config"]))
        digests = [
            f"sha256:{hashlib.file_digest(_member(archive, name), 'sha256').hexdigest()}"
            for name in manifest["Layers"]
        ]

    assert manifest["RepoTags"] == [node_image.reference]
    assert config["rootfs"]["diff_ids"] == digests
    assert config["config"]["StopSignal"] == "SIGRTMIN+3"
    assert config["config"]["Entrypoint"] == ["/usr/local/bin/entrypoint", "/sbin/init"]
    assert "container=docker" in config["config"]["Env"]


def _is_ours(cmdline: Path) -> bool:
    try:
        return b"/strandline-containerd-" in cmdline.read_bytes()
    except OSError:  # it ended while we looked
        return False


def _member(archive: tarfile.TarFile, name: str) -> tarfile.ExFileObject:
    member = archive.extractfile(name)
    assert isinstance(member, tarfile.ExFileObject)
    return member
