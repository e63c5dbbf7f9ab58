"""What is decided of an attempt before it begins, and by what."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from harness.agents.command import ControlAgent
from harness.bench.loader import LoadedTask
from harness.bench.messages import Job
from harness.bench.planning import plan_of, truths_of
from harness.bench.rundir import RunDir
from harness.model.story import Truth
from tests.unit.bench.fakes import SuiteFolder

SECRET = bytes(range(16))

#: Any program will do: nothing is started.
_IDLE = Path(sys.executable)


@pytest.fixture
def plain(tmp_path: Path) -> LoadedTask:
    return SuiteFolder(tmp_path).load().tasks["mix"]


@pytest.fixture
def hiding(plain: LoadedTask) -> LoadedTask:
    truths = {name: Truth() for name in ("whole", "nothing", "partly")}
    return replace(plain, task=plain.task.model_copy(update={"truths": truths}))


def test_truths_hang_on_the_secret_and_never_on_the_seed(hiding: LoadedTask) -> None:
    def drawn(secret: bytes, seed: int) -> list[str | None]:
        plans = [
            plan_of("run", hiding, number, run_seed=seed, secret=secret) for number in range(1, 21)
        ]
        return [plan.truth for plan in plans]

    assert drawn(SECRET, 1) == drawn(SECRET, 2)
    assert drawn(SECRET, 1) != drawn(bytes(16), 1)
    assert set(Counter(drawn(SECRET, 1)).values()) <= {6, 7, 8}


def test_a_truth_that_is_named_is_taken_and_all_are_listed(
    hiding: LoadedTask, tmp_path: Path
) -> None:
    run_dir, agent = RunDir(path=tmp_path), ControlAgent(_IDLE)
    jobs = [
        Job(
            plan=plan_of("run", hiding, number, run_seed=1, secret=SECRET, truth="partly"),
            agent=agent,
            bundle=run_dir.attempt("idle.mix", number),
        )
        for number in (1, 2)
    ]

    assert truths_of(jobs) == {"idle.mix": {1: "partly", 2: "partly"}}
    assert "truth='partly'" not in repr(jobs)


def test_where_nothing_is_hidden_nothing_is_told_the_instruments(
    plain: LoadedTask, hiding: LoadedTask
) -> None:
    told = plan_of("run", hiding, 1, run_seed=1, secret=SECRET)
    untold = plan_of("run", plain, 1, run_seed=1, secret=SECRET)

    assert (untold.truth, untold.noise_key) == (None, "")
    assert told.noise_key != ""
