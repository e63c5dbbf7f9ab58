"""A run of the benchmark: which parts there are, and what becomes of one that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import PARTS, measure_parts, reason
from benchmarks.figures import Part, alone
from benchmarks.measuring import MeasurementError
from benchmarks.workbench import Workbench
from harness.cluster.toolchain import Toolchain
from harness.errors import ClusterError
from harness.terraform.engine import Engine


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def workbench(said: list[str], tmp_path: Path) -> Workbench:
    """A workbench on which nothing is found, because nothing is looked for."""
    return Workbench(
        toolchain=Toolchain(root=tmp_path, cache_dir=tmp_path, environ={}, progress=said.append),
        engine=Engine(path=tmp_path, name="terraform", version="1.11.4", plugin_mirror=None),
        cache_dir=tmp_path,
        scratch_dir=tmp_path,
        repeats=1,
        say=said.append,
    )


def test_the_parts_are_those_of_the_table_in_its_order() -> None:
    assert list(PARTS) == [
        "start",
        "assertions",
        "runner",
        "gate",
        "sweep",
        "laboratory",
        "grading",
        "phases",
    ]


def test_a_part_that_fails_takes_no_other_with_it(workbench: Workbench, said: list[str]) -> None:
    stop = Part(figures=(alone("start", "stop", ours=[1.0]),))

    def fails(_: Workbench) -> Part:
        msg = "kube-apiserver exited 1"
        raise ClusterError(msg)

    found, failed = measure_parts({"gate": fails, "start": lambda _: stop}, workbench)

    assert found == {"start": stop}
    assert failed == {"gate": "kube-apiserver exited 1"}
    assert said == ["gate failed: kube-apiserver exited 1"]


def test_an_interrupt_is_no_failure_of_a_part(workbench: Workbench) -> None:
    def interrupted(_: Workbench) -> Part:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_parts({"gate": interrupted}, workbench)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (MeasurementError("chainsaw exited 1:\n  FAIL"), "chainsaw exited 1: FAIL"),
        (KeyError("ready_s"), "KeyError: 'ready_s'"),
    ],
)
def test_a_reason_is_one_line(error: Exception, text: str) -> None:
    assert reason(error) == text


def test_the_scratch_folder_holds_one_folder_a_name(workbench: Workbench) -> None:
    folder = workbench.folder("runner-1")

    assert folder.is_dir()
    with pytest.raises(FileExistsError):
        workbench.folder("runner-1")


def test_our_own_programs_keep_compiled_modules_in_the_scratch_folder(
    workbench: Workbench,
) -> None:
    environment = workbench.python_environment({"STRANDLINE_HOME": "/home"})

    assert "PYTHONDONTWRITEBYTECODE" not in environment
    assert environment["PYTHONPYCACHEPREFIX"] == str(workbench.scratch_dir / "pycache")
    assert environment["STRANDLINE_HOME"] == "/home"
