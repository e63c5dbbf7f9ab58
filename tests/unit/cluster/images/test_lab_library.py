"""What goes into the lab image's library, and in which versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from harness.cluster.images.lab_library import (
    closure,
    fetch,
    harness_files,
    installed_requirements,
    requirements,
    write_harness,
)
from harness.core.process import Finished
from harness.errors import PrerequisiteError

LOCK = """\
alpha==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:ab
beta==2.0 ; python_full_version < '3.13' \\
    --hash=sha256:bb
gamma==3.0 \\
    --hash=sha256:cc
"""


class FakeInstallers:
    """Runs what is scripted: by program, whether it works; anything else fails the test."""

    def __init__(self, works: Mapping[str, bool], leaves: Sequence[str] = ()) -> None:
        self._works = dict(works)
        self._leaves = leaves
        self.ran: list[Sequence[str]] = []

    def __call__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        what: str,
        timeout_s: float,
        progress: object,
    ) -> Finished:
        """Make the files that an installer would, or fail as one does."""
        assert env.get("SECRET") is None
        assert what
        assert timeout_s
        assert progress
        self.ran.append(argv)
        if not self._works.pop(argv[0]):
            msg = f"{argv[0]} exited 1"
            raise PrerequisiteError(msg)
        target = Path(argv[argv.index("--target") + 1])
        for name in self._leaves:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_text("")
        return Finished(
            argv=tuple(argv),
            returncode=0,
            stdout="",
            stderr="",
            duration_s=0.0,
            timed_out=False,
            survivors=0,
        )


def test_a_closure_follows_what_is_installed_and_leaves_extras_and_cut_ones_out() -> None:
    installed: dict[str, Sequence[str]] = {
        "root": ["Beta_Two>=1", "aiohttp>=3", "extra-thing; extra == 'more'", "absent; marker"],
        "beta-two": ["gamma<3"],
        "gamma": [],
        "aiohttp": ["multidict"],
        "multidict": [],
        "extra-thing": [],
    }

    def requires(name: str) -> Sequence[str] | None:
        return installed.get(name)

    assert closure(["root"], requires) == ("beta-two", "gamma", "root")


def test_a_root_that_is_not_installed_is_named() -> None:
    with pytest.raises(PrerequisiteError) as caught:
        closure(["root"], lambda _: None)

    assert str(caught.value) == "root is not installed, though the laboratory imports it"


def test_hashes_come_along_when_the_lock_has_them_all() -> None:
    text = requirements({"beta": "2.0", "alpha": "1.0"}, LOCK)

    assert text == (
        "alpha==1.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:ab\n"
        "beta==2.0 \\\n    --hash=sha256:bb\n"
    )


def test_without_the_hash_of_one_there_are_none() -> None:
    assert requirements({"alpha": "1.0", "gamma": "3.1"}, LOCK) == "alpha==1.0\ngamma==3.1\n"


def test_what_is_installed_here_is_pinned_and_hashed() -> None:
    pins = installed_requirements()

    assert "\nkubernetes==" in pins
    assert "--hash=sha256:" in pins
    assert not any(name in pins for name in ("openai", "aiohttp==", "pytest", ";"))


def test_our_own_part_is_the_rooms_that_a_process_imports() -> None:
    found = harness_files()

    assert {"harness/__init__.py", "harness/errors.py", "harness/lab/__main__.py"} <= found.keys()
    assert {name.split("/")[1] for name in found} == {
        *("__init__.py", "errors.py", "core", "kube", "lab", "model")
    }


def test_files_are_written_with_their_folders(tmp_path: Path) -> None:
    write_harness({"harness/lab/x.py": b"x"}, tmp_path / "lib")

    assert (tmp_path / "lib" / "harness" / "lab" / "x.py").read_bytes() == b"x"


def test_the_next_installer_is_asked_when_one_fails_and_what_nobody_imports_is_cut(
    tmp_path: Path,
) -> None:
    runs = FakeInstallers(
        {"/first": False, "/bin/uv": True},
        leaves=["kubernetes/aio/x.py", "kubernetes/client/x.py", "certifi/tests/x.py", "bin/tool"],
    )
    target = tmp_path / "library"

    fetch(
        "a==1\n",
        target,
        installers=[["/first", "install"], ["/bin/uv", "pip", "install"]],
        environ={"SECRET": "s"},
        progress=print,
        runs=runs,
    )

    left = sorted(str(path.relative_to(target)) for path in target.rglob("*.py"))
    assert left == ["kubernetes/client/x.py"]
    assert not (target / "bin").exists()
    assert "--abi" in runs.ran[0]
    assert "--python-platform" in runs.ran[1]


def test_when_no_installer_can_each_is_named(tmp_path: Path) -> None:
    runs = FakeInstallers({"/first": False, "/second": False})

    with pytest.raises(PrerequisiteError) as caught:
        fetch(
            "a==1\n",
            tmp_path / "library",
            installers=[["/first"], ["/second"]],
            environ={},
            progress=print,
            runs=runs,
        )

    assert str(caught.value) == (
        "no installer could fetch the lab image's packages: /first exited 1; /second exited 1"
    )
