"""The lab image: when it is made anew, what is kept of old ones, how an engine builds it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from harness.cluster.images.lab import CONFIG, LabImage, _Plan, ensure_lab_image, outdated
from harness.cluster.images.lab_base import compile_library
from harness.cluster.images.lab_engine import build_by_engine, engine_tag
from harness.cluster.images.lab_library import harness_files, installed_requirements
from harness.core.process import Finished
from harness.errors import ClusterError, PrerequisiteError


class FakeEngine:
    """Takes a build and a save, in this order, and writes what a save would."""

    def __init__(self, *, builds: bool = True) -> None:
        self._builds = builds
        self.asked: list[tuple[str, ...]] = []

    def call(self, *args: str, timeout_s: float) -> str:
        """Do as it is told, once each."""
        assert timeout_s
        self.asked.append(args)
        if args[0] == "build":
            assert Path(args[-1], "lib").is_dir()
            assert Path(args[args.index("--file") + 1]).read_text().count("FROM ${BASE}") == 1
            if not self._builds:
                msg = "podman build: no such image"
                raise ClusterError(msg)
        else:
            assert args[:2] == ("save", "--output")
            Path(args[2]).write_bytes(b"archive")
        return ""


def context(folder: Path) -> Path:
    made = folder / "context"
    (made / "lib").mkdir(parents=True)
    return made


def test_a_container_runs_as_nobody_in_particular_and_finds_its_library() -> None:
    assert CONFIG.user == "65532:65532"
    assert CONFIG.entrypoint == ("/usr/bin/python3", "-m", "harness.lab")
    assert CONFIG.environment["PYTHONPATH"] == "/opt/strandline/lib"


def test_the_last_three_of_each_kind_are_kept(tmp_path: Path) -> None:
    names = [
        *(f"lab-{n}.tar" for n in range(5)),
        *(f"lab-base-{n}.tar" for n in range(4)),
        *(f"lab-library-{n}.tar" for n in range(3)),
    ]
    for age, name in enumerate(names):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1000 - age, 1000 - age))

    old = outdated(sorted(tmp_path.iterdir()))

    assert [path.name for path in old] == ["lab-3.tar", "lab-4.tar", "lab-base-3.tar"]


def test_an_engine_builds_from_the_base_that_is_named_and_saves(tmp_path: Path) -> None:
    engine = FakeEngine()
    folder = context(tmp_path)

    build_by_engine(
        engine, folder, "localhost/x:1", tmp_path / "out.tar", base="mine:1", progress=print
    )

    assert [args[0] for args in engine.asked] == ["build", "save"]
    assert engine.asked[0][1:5] == ("--build-arg", "BASE=mine:1", "--tag", "localhost/x:1")
    assert (tmp_path / "out.tar").read_bytes() == b"archive"


def test_a_build_that_fails_leaves_no_archive(tmp_path: Path) -> None:
    engine = FakeEngine(builds=False)

    with pytest.raises(ClusterError):
        build_by_engine(
            engine, context(tmp_path), "x:1", tmp_path / "out.tar", base=None, progress=print
        )

    assert engine.asked[0][:2] == ("build", "--tag")
    assert not (tmp_path / "out.tar").exists()


@pytest.mark.parametrize(
    "other", [engine_tag([b"a", b"c"], None), engine_tag([b"ab"], None), engine_tag([b"a"], "b")]
)
def test_a_tag_changes_with_every_part_and_with_the_base(other: str) -> None:
    same = engine_tag([b"a", b"b"], None)

    assert same == engine_tag([b"a", b"b"], None)
    assert same != other


def test_an_image_that_is_kept_is_not_made_again(tmp_path: Path) -> None:
    said: list[str] = []
    plan = _Plan(cache_dir=tmp_path, requirements=installed_requirements(), files=harness_files())
    kept = tmp_path / f"lab-{plan.tag}.tar"
    kept.touch()

    image = ensure_lab_image(tmp_path, said.append)

    assert image == LabImage(reference=f"localhost/strandline-lab:{plan.tag}", archive=kept)
    assert said == []


def test_a_tag_changes_with_our_code_and_with_a_version(tmp_path: Path) -> None:
    def tag(requirements: str, code: bytes) -> str:
        files = {"harness/__init__.py": code}
        return _Plan(cache_dir=tmp_path, requirements=requirements, files=files).tag

    same = tag("a==1\n", b"x")

    assert same == tag("a==1\n", b"x")
    assert same not in {tag("a==2\n", b"x"), tag("a==1\n", b"y")}


def test_a_base_without_a_loader_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        compile_library(tmp_path, tmp_path, shown_as="/x", progress=print)

    assert str(caught.value) == f"{tmp_path}: no dynamic loader in the lab image's base"


def test_modules_are_compiled_by_the_python_of_the_image_for_good(tmp_path: Path) -> None:
    for name in ("lib64/ld-linux-x86-64.so.2", "lib/x86_64-linux-gnu/libc.so.6"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    ran: list[tuple[Sequence[str], Mapping[str, str]]] = []

    def runs(argv: Sequence[str], *, env: Mapping[str, str], **_: object) -> Finished:
        ran.append((argv, env))
        return Finished(
            argv=tuple(argv),
            returncode=0,
            stdout="",
            stderr="",
            duration_s=0.0,
            timed_out=False,
            survivors=0,
        )

    compile_library(tmp_path, tmp_path / "mine", shown_as="/opt/mine", progress=print, runs=runs)

    ((argv, env),) = ran
    assert argv[0] == str(tmp_path / "lib64" / "ld-linux-x86-64.so.2")
    assert argv[argv.index("--library-path") + 1] == str(tmp_path / "lib" / "x86_64-linux-gnu")
    assert argv[argv.index("--invalidation-mode") + 1] == "unchecked-hash"
    assert env["PYTHONHOME"] == str(tmp_path / "usr")
