"""What an attempt must have before its story begins, and where its controller stops for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.bench.course import AttemptPlan
from harness.bench.story.history import Pause
from harness.bench.telling import pause_of, require_truth
from harness.errors import SuiteError
from tests.unit.bench.fakes import SuiteFolder

RUN = "{ name: night, steps: [{ id: mix, capability: sim.mix_color }], interrupt: { kind: KIND } }"
SETUP = """\
setup:
  capability: sim.mix_color
  inputs: { total_mass_g: "{{ mass_g }}" }
  cancel_after_seconds: 0.3
"""


def _plan(root: Path, *, truths: str = "", kind: str = "", truth: str | None = None) -> AttemptPlan:
    folder = SuiteFolder(root)
    story = f"history: [{{ run: {RUN.replace('KIND', kind)} }}]\n" if kind else ""
    folder.change("settle/task", SETUP, f"{story}{truths}")
    task = folder.load().tasks["settle"]
    return AttemptPlan(run_id="r", task=task, number=1, seed=1, truth=truth)


TRUTHS = "truths: { whole: {}, nothing: { fates: { mixer-1: [nothing] } } }\n"


@pytest.mark.parametrize(("truths", "truth"), [("", None), (TRUTHS, "whole"), (TRUTHS, "nothing")])
def test_an_attempt_has_one_of_the_truths_of_its_task(
    tmp_path: Path, truths: str, truth: str | None
) -> None:
    require_truth(_plan(tmp_path, truths=truths, truth=truth))


@pytest.mark.parametrize(("truths", "truth"), [("", "whole"), (TRUTHS, None), (TRUTHS, "maybe")])
def test_an_attempt_without_one_cannot_begin(
    tmp_path: Path, truths: str, truth: str | None
) -> None:
    with pytest.raises(SuiteError, match=r"^task 'settle' has the truths .*, none of them drawn$"):
        require_truth(_plan(tmp_path, truths=truths, truth=truth))


@pytest.mark.parametrize(
    ("kind", "pause"),
    [
        ("", None),
        ("cancelled", None),
        ("controller_killed", Pause(at="after_send", task="night-mix")),
        ("two_controllers", Pause(at="before_send", task="night-mix")),
    ],
)
def test_the_controller_stops_where_a_history_says(
    tmp_path: Path, kind: str, pause: Pause | None
) -> None:
    assert pause_of(_plan(tmp_path, kind=kind).task.task) == pause


def test_the_controller_stops_where_a_setup_says(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path)
    folder.change("settle/task", "cancel_after_seconds: 0.3", "interrupt: controller_killed")

    assert pause_of(folder.load().tasks["settle"].task) == Pause(
        at="after_send", task="night-shift-mix"
    )


def test_what_is_secret_does_not_show_when_a_plan_is_printed(tmp_path: Path) -> None:
    plan = _plan(tmp_path, truths=TRUTHS, truth="nothing")
    hidden = AttemptPlan(
        run_id="r", task=plan.task, number=1, seed=1, truth="nothing", noise_key="a-key"
    )

    shown = repr(hidden).replace(repr(plan.task), "")

    assert "a-key" not in shown
    assert "nothing" not in shown
