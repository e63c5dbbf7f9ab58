"""How a root file system is asked for, what it needs, and that a failure leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cluster.images.debian import (
    TOOLS,
    make_rootfs,
    mmdebstrap_argv,
    own_sources,
    require_root,
    require_tools,
    rootfs_path,
)
from harness.core.scratch import abandoned_scratch
from harness.errors import PrerequisiteError
from tests.unit.cluster.fakes import FakeLongCommand

PACKAGES = ("iptables", "conntrack")


def _debian(tmp_path: Path, codename: str) -> Path:
    etc = tmp_path / "etc"
    (etc / "apt" / "sources.list.d").mkdir(parents=True)
    (etc / "os-release").write_text(f"ID=debian\nVERSION_CODENAME={codename}\n")
    return etc


def test_everything_is_mounted_in_a_namespace_that_ends_with_the_command() -> None:
    argv = mmdebstrap_argv(PACKAGES, Path("/c/r.tar"), variant="extract", sources=Path("/s"))

    assert argv[:8] == [
        *("unshare", "--mount", "--propagation", "private", "--"),
        *("mmdebstrap", "--mode=root", "--variant=extract"),
    ]
    assert "--include=conntrack,iptables" in argv
    assert "--skip=output/dev" in argv
    assert argv[-3:] == ["bookworm", "/c/r.tar", "/s"]


def test_what_the_machine_lent_is_removed_by_the_last_hook_that_the_variant_calls() -> None:
    hooks = [
        part.partition("=")[0]
        for variant in ("minbase", "extract")
        for part in mmdebstrap_argv(PACKAGES, Path("/c/r"), variant=variant, sources=None)
        if "-hook=" in part
    ]

    assert hooks == ["--customize-hook", "--extract-hook"]


def test_without_sources_of_its_own_the_release_decides_where_packages_come_from() -> None:
    argv = mmdebstrap_argv(PACKAGES, Path("/c/r.tar"), variant="minbase", sources=None)

    assert argv[-2:] == ["bookworm", "/c/r.tar"]


def test_the_order_of_packages_is_the_same_file_and_another_package_another(tmp_path: Path) -> None:
    paths = [
        rootfs_path("node", packages, tmp_path, variant=variant).name
        for packages, variant in (
            (("a", "b"), "minbase"),
            (("b", "a", "a"), "minbase"),
            (("a", "c"), "minbase"),
            (("a", "b"), "extract"),
        )
    ]

    assert paths[0] == paths[1]
    assert len(set(paths)) == 3


def test_a_file_system_appears_whole_and_readable(tmp_path: Path) -> None:
    path = tmp_path / "rootfs-node-1.tar"
    runs = FakeLongCommand(content=b"tar")

    make_rootfs("node", PACKAGES, path, variant="minbase", progress=lambda _: None, runs=runs)

    assert path.read_bytes() == b"tar"
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [path]
    assert runs.env["SOURCE_DATE_EPOCH"] == "1577836800"
    assert Path(runs.env["TMPDIR"]).parent == tmp_path


def test_a_failure_leaves_no_file_and_no_folder(tmp_path: Path) -> None:
    runs = FakeLongCommand(content=b"half", fails=PrerequisiteError("no route to host"))

    with pytest.raises(PrerequisiteError, match=r"^no route to host$"):
        make_rootfs(
            "node",
            PACKAGES,
            tmp_path / "rootfs-node-1.tar",
            variant="minbase",
            progress=lambda _: None,
            runs=runs,
        )

    assert list(tmp_path.iterdir()) == []
    assert abandoned_scratch(tmp_path) == ()


def test_another_user_than_root_is_refused_and_root_is_not() -> None:
    require_root(0, what="the node image")

    with pytest.raises(PrerequisiteError) as caught:
        require_root(1000, what="the node image")

    assert str(caught.value) == (
        "the node image can be made by root only (owners of files, mounts); this is user 1000"
    )
    assert caught.value.exit_code == 4


def test_every_program_that_is_missing_is_named_with_its_package() -> None:
    with pytest.raises(PrerequisiteError) as caught:
        require_tools(TOOLS, which=lambda name: "/usr/bin/x" if name.startswith("dpkg") else None)

    assert str(caught.value) == (
        "not on PATH: mmdebstrap (Debian package mmdebstrap), apt-get (Debian package apt), "
        "unshare (Debian package util-linux)"
    )
    assert caught.value.hint == (
        "run apt-get install --no-install-recommends mmdebstrap apt util-linux"
    )


def test_a_machine_with_every_program_is_not_refused() -> None:
    require_tools(TOOLS, which=lambda name: f"/usr/bin/{name}")


def test_the_machines_own_sources_are_used_where_it_is_of_our_release(tmp_path: Path) -> None:
    etc = _debian(tmp_path, "bookworm")
    (etc / "apt" / "sources.list").touch()
    nothing_said = own_sources(etc)
    (etc / "apt" / "sources.list").write_text("deb x bookworm main\n")
    old_form = own_sources(etc)
    (etc / "apt" / "sources.list.d" / "debian.sources").write_text("Types: deb\n")
    new_form = own_sources(etc)

    assert nothing_said is None
    assert old_form == etc / "apt" / "sources.list"
    assert new_form == etc / "apt" / "sources.list.d" / "debian.sources"


def test_sources_of_another_release_are_not_used(tmp_path: Path) -> None:
    etc = _debian(tmp_path, "trixie")
    (etc / "apt" / "sources.list").write_text("deb x trixie main\n")

    assert own_sources(etc) is None
    assert own_sources(tmp_path / "no-such-folder") is None
