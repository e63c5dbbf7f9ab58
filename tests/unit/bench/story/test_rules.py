"""A story that cannot be fair, or cannot be carried out, is refused when the suite is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.bench.runnable import why_not_runnable
from harness.bench.story.rules import story_problem
from harness.errors import SuiteError
from harness.model.suite import Task
from tests.unit.bench.fakes import SuiteFolder

STEPS = [{"id": "mix", "capability": "sim.mix_color"}, {"id": "weigh", "capability": "sim.weigh"}]
NOTE = {"name": "seen", "kind": "LabRun", "subject": "n", "reason": "information", "text": "a"}


def _task(**more: Any) -> Task:
    return Task.model_validate(
        {
            "id": "settle",
            "category": "recover",
            "stack": "color_lab",
            "prompt": "Settle it.",
            "truths": {"yes": {}, "no": {}},
            "checks": [{"kind": "no_run_awaiting_intervention", "description": "nothing waits"}],
            **more,
        }
    )


def _run(steps: int = 1, name: str = "night", **interrupt: Any) -> dict[str, Any]:
    run = {"name": name, "steps": STEPS[:steps], "interrupt": interrupt or None}
    return {"run": {key: value for key, value in run.items() if value}}


def _problem(*history: dict[str, Any], **more: Any) -> tuple[Any, str] | None:
    found = story_problem(_task(history=history, **more), history)
    return (found.key, found.problem) if found else None


def _cast(*do: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": "somebody", "when": {"looked": True}, "do": list(do)}]


@pytest.mark.parametrize(
    "history",
    [
        [],
        [_run(kind="controller_killed")],
        [_run(2, kind="controller_killed", step="weigh"), _run(name="b", kind="cancelled")],
        [_run(2, kind="cancelled"), {"by": "colleague", "note": NOTE}],
    ],
)
def test_a_fair_story_has_no_problem(history: list[dict[str, Any]]) -> None:
    assert _problem(*history, cast=_cast({"note": NOTE, "only": ["yes"]})) is None


def test_a_history_must_not_hang_on_the_truth() -> None:
    assert _problem({"note": NOTE, "only": ["yes"]}) == (
        ("history", 0, "only"),
        "hangs on the truth",
    )


def test_an_interruption_names_a_step_of_its_run() -> None:
    assert _problem(_run(kind="cancelled", step="weigh")) == (
        ("history", 0, "run", "interrupt", "step"),
        "names step 'weigh', which the run has not",
    )


def test_a_controller_dies_at_a_named_point_once() -> None:
    acts = [_run(kind="controller_killed"), _run(name="b", kind="two_controllers")]

    assert _problem(*acts) == (
        ("history", 1),
        "is a second interruption at a named point of the controller",
    )


def test_a_controller_dies_over_a_step_that_is_known_before_anything_exists() -> None:
    assert _problem(_run(2, kind="controller_killed")) == (
        ("history", 0, "run", "interrupt"),
        "controller_killed meets a run of 2 steps",
    )
    drawn = [_run(name="{{ sample_id }}", kind="controller_killed")]
    found = story_problem(_task(history=[_run(kind="controller_killed")]), drawn)
    assert found is not None
    assert found.problem == "controller_killed meets a run whose name hangs on a variable"


def test_a_cast_knows_the_truths_of_its_task() -> None:
    assert _problem(cast=_cast({"note": NOTE}, {"note": NOTE, "only": ["maybe"]})) == (
        ("cast", 0, "do", 1, "only"),
        "'maybe' is no truth of the task",
    )


def test_a_check_knows_the_truths_of_its_task() -> None:
    check = {"kind": "runs_completed", "count": 1, "description": "it was done"}

    assert _problem(checks=[{**check, "only": ["no"]}]) is None
    assert _problem(checks=[{**check, "only": ["maybe"]}]) == (
        ("checks", 0, "only"),
        "'maybe' is no truth of the task",
    )


def test_a_cast_interrupts_nothing() -> None:
    assert _problem(cast=_cast(_run(kind="cancelled"))) == (
        ("cast", 0, "do", 0),
        "interrupts a call in the cast",
    )


def test_a_task_has_a_setup_or_a_history() -> None:
    setup = {"capability": "sim.mix_color", "cancel_after_seconds": 0.3}

    assert _problem(_run(kind="cancelled"), setup=setup) == (
        ("history",),
        "stands beside a setup",
    )


def test_the_loader_names_file_and_line(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path)
    history = "history:\n  - only: [yes-it-did]\n    cancel: { run: night }\nprompt: Settle it."
    folder.change("settle/task", "prompt: Settle it.", history)
    setup = 'setup:\n  capability: sim.mix_color\n  inputs: { total_mass_g: "{{ mass_g }}" }\n'
    folder.change("settle/task", f"{setup}  cancel_after_seconds: 0.3\n", "")

    with pytest.raises(SuiteError, match=r"settle/task\.yaml:5: .*hangs on the truth$"):
        folder.load()


@pytest.mark.parametrize(
    ("more", "lacks"),
    [
        ({"history": [_run(kind="cancelled")]}, None),
        ({"history": [_run(kind="controller_killed")]}, "node_access"),
        ({"history": [_run(kind="status_write_lost")]}, "node_access"),
        ({"history": [_run(kind="two_controllers")]}, "two_controllers"),
        ({"cast": [{"name": "a", "when": {"created": "notes"}, "do": [{"note": NOTE}]}]}, "audit"),
        ({"cast": _cast({"note": NOTE})}, None),
    ],
)
def test_a_story_says_what_its_cluster_must_be_able_to_do(
    more: dict[str, Any], lacks: str | None
) -> None:
    why = why_not_runnable(_task(**more), frozenset())

    assert (why is None) is (lacks is None)
    assert lacks is None or f"lacks {lacks}, which its " in str(why)


def _attested(task: str) -> dict[str, Any]:
    return {"attest": {"task": task, "finding": "completed", "basis": "it was seen"}}


def _touched(name: str) -> list[dict[str, Any]]:
    return [{"name": "somebody", "when": {"touched": name}, "do": [{"note": NOTE}]}]


@pytest.mark.parametrize(
    ("act", "key", "problem"),
    [
        (
            {"resume": {"run": "night-2"}},
            ("resume", "run"),
            "names run 'night-2', which nobody makes",
        ),
        ({"cancel": {"run": "x"}}, ("cancel", "run"), "names run 'x', which nobody makes"),
        (
            {"approve": {"run": "x", "decision": "refused"}},
            ("approve", "run"),
            "names run 'x', which nobody makes",
        ),
        (_attested("night-mx"), ("attest", "task"), "names task 'night-mx', which nobody makes"),
        (
            {"release": {"task": "night"}},
            ("release", "task"),
            "names task 'night', which nobody makes",
        ),
    ],
)
def test_an_act_names_a_run_or_a_task_that_somebody_makes(
    act: dict[str, Any], key: tuple[str, str], problem: str
) -> None:
    night = _run(kind="timed_out")

    assert _problem(night, act) == (("history", 1, *key), problem)
    assert _problem(night, cast=_cast(act)) == (("cast", 0, "do", 0, *key), problem)


def test_what_the_prompt_names_or_the_story_makes_may_be_spoken_of() -> None:
    night = _run(2, kind="timed_out", step="mix")

    assert _problem(night, _attested("night-mix"), {"resume": {"run": "night"}}) is None
    assert _problem(night, cast=_cast({"release": {"task": "night-mix"}})) is None
    assert _problem(cast=_cast({"cancel": {"run": "day"}}), prompt="Name the run day.") is None


def test_a_trigger_that_misses_a_name_by_a_letter_is_a_mistake() -> None:
    night = _run(kind="timed_out")

    assert _problem(night, cast=_touched("night-2")) == (
        ("cast", 0, "when", "touched"),
        "names object 'night-2', which nobody makes",
    )
    assert _problem(night, cast=_touched("night")) is None
    assert _problem(night, {"note": NOTE}, cast=_touched("seen")) is None
    assert _problem(night, cast=_touched("balance-1")) is None


def test_a_misspelt_name_comes_with_the_nearest_one() -> None:
    history = [_run(kind="timed_out"), _attested("night-mx")]

    found = story_problem(_task(history=history), history)

    assert found is not None
    assert found.hint == "did you mean 'night-mix'?"


def test_a_trigger_names_an_event_that_the_laboratory_records() -> None:
    told = {"name": "somebody", "when": {"event": "ApprovalReqested"}, "do": [{"note": NOTE}]}

    with pytest.raises(ValidationError, match="ApprovalRequested"):
        _task(cast=[told])
