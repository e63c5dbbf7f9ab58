"""Means, intervals, and what they leave out."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.grading.statistics import pass_hat_k, summarise, wilson
from harness.model.evidence import Status
from harness.model.results import AttemptResult, Interval
from harness.model.suite import Suite, Task
from tests.unit.grading.fixtures import check

PASSED, FAILED, INFRA = Status.PASSED, Status.FAILED, Status.INFRA_ERROR


def _task(name: str, category: str) -> Task:
    checks = (check("runs_completed"),)
    return Task(id=name, category=category, stack="lab", prompt="work", checks=checks)


SUITE = Suite(
    name="lab-operation",
    version="1.0",
    description="a suite",
    briefing="how the laboratory works",
    categories=("operate", "recover"),
    tasks=(_task("mix", "operate"), _task("weigh", "operate"), _task("settle", "recover")),
    digest="d" * 64,
)
EVERY = tuple(task.id for task in SUITE.tasks)


def results(task: str, *statuses: Status) -> list[AttemptResult]:
    """Return one result a status; a pass scores 1, anything else 0.5."""
    return [
        AttemptResult(
            task_id=task,
            category="any",
            number=number,
            seed=number,
            status=status,
            score=1.0 if status is PASSED else 0.5,
            error=None,
            seconds={},
            cost_usd=None,
            tokens=None,
            checks=(),
            violations=(),
            evidence_sha256="0" * 64,
        )
        for number, status in enumerate(statuses, start=1)
    ]


def summary(selected: tuple[str, ...] = EVERY, **by_task: tuple[Status, ...]) -> Any:
    """Return the summary of statuses by task."""
    found = [item for task, statuses in by_task.items() for item in results(task, *statuses)]
    return summarise(found, suite=SUITE, selected=selected, scheduled=len(found))


def test_a_category_is_the_mean_of_its_tasks_and_the_index_the_mean_of_categories() -> None:
    found = summary(mix=(PASSED, PASSED), weigh=(PASSED, FAILED), settle=(FAILED, FAILED))

    assert [task.pass_at_1 for task in found.tasks] == [1.0, 0.5, 0.0]
    assert found.categories["operate"].pass_at_1 == 0.75
    assert found.categories["recover"].pass_at_1 == 0.0
    assert found.index == 0.375


def test_tasks_with_more_attempts_do_not_weigh_more() -> None:
    found = summary(mix=(PASSED,) * 9, weigh=(FAILED,), settle=(PASSED,))

    assert found.tasks[1].pass_hat_k == {"1": 0.0}
    assert found.categories["operate"].pass_at_1 == 0.5


def test_attempts_with_a_cause_outside_of_the_agent_are_left_out_and_counted() -> None:
    found = summary(mix=(PASSED, INFRA), weigh=(PASSED,), settle=(Status.AGENT_ERROR,))

    assert [task.pass_at_1 for task in found.tasks] == [1.0, 1.0, 0.0]
    assert found.denominators == {
        "scheduled": 4,
        "counted": 3,
        "not_runnable": 0,
        "passed": 2,
        "failed": 0,
        "agent_error": 1,
        "infra_error": 1,
        "aborted": 0,
        "evidence_incomplete": 0,
    }


def test_a_subset_has_no_index() -> None:
    found = summary(("mix",), mix=(PASSED,))

    assert found.index is None
    assert list(found.categories) == ["operate"]


def test_a_task_that_no_attempt_counts_for_leaves_no_index() -> None:
    found = summary(mix=(PASSED,), weigh=(INFRA,), settle=(PASSED,))

    assert found.index is None
    assert found.tasks[1].pass_at_1 is None
    assert found.categories["operate"].pass_at_1 == 1.0


def test_a_category_that_no_attempt_counts_for_has_no_score() -> None:
    found = summary(mix=(PASSED,), weigh=(PASSED,), settle=(INFRA,))

    assert found.categories["recover"].pass_at_1 is None
    assert found.categories["recover"].interval is None


def test_a_run_that_never_began_has_no_score_at_all() -> None:
    found = summarise([], suite=SUITE, selected=EVERY, scheduled=3)

    assert found.index is None
    assert found.denominators["scheduled"] == 3
    assert found.tasks[0].pass_hat_k == {}


def test_attempts_are_listed_in_their_order_whatever_order_they_ended_in() -> None:
    found = summarise(
        reversed(results("mix", PASSED, FAILED, INFRA)), suite=SUITE, selected=EVERY, scheduled=3
    )

    assert [attempt.number for attempt in found.tasks[0].attempts] == [1, 2, 3]
    assert found.tasks[0].pass_hat_k == {"1": 0.5, "2": 0.0}
    assert found.tasks[0].mean_score == 0.75


def test_results_of_a_task_that_was_not_selected_are_left_out() -> None:
    found = summary(("mix",), mix=(PASSED,), settle=(PASSED,))

    assert [task.id for task in found.tasks] == ["mix"]
    assert found.denominators["counted"] == 1


@pytest.mark.parametrize(("passed", "k", "expected"), [(8, 4, 0.333), (8, 1, 0.8), (3, 4, 0.0)])
def test_pass_hat_k_is_the_unbiased_estimate(passed: int, k: int, expected: float) -> None:
    assert pass_hat_k(passed, 10)[str(k)] == expected


@pytest.mark.parametrize(
    ("mean", "tasks", "expected"),
    [
        (0.0, 30, Interval(low=0.0, high=0.114)),
        (1.0, 30, Interval(low=0.886, high=1.0)),
        (0.5, 10, Interval(low=0.237, high=0.763)),
    ],
)
def test_an_interval_is_wilsons_and_never_a_point(
    mean: float, tasks: int, expected: Interval
) -> None:
    assert wilson(mean, tasks) == expected


@given(mean=st.floats(min_value=0, max_value=1), tasks=st.integers(min_value=1, max_value=500))
def test_an_interval_holds_its_mean_and_stays_between_0_and_1(mean: float, tasks: int) -> None:
    found = wilson(mean, tasks)

    assert 0.0 <= found.low <= mean + 0.001
    assert mean - 0.001 <= found.high <= 1.0
    assert found.low < found.high


@given(counted=st.integers(min_value=1, max_value=40), data=st.data())
def test_pass_hat_k_falls_with_k_and_starts_at_the_rate(counted: int, data: Any) -> None:
    passed = data.draw(st.integers(min_value=0, max_value=counted))

    found = list(pass_hat_k(passed, counted).values())

    assert found == sorted(found, reverse=True)
    assert math.isclose(found[0], passed / counted, abs_tol=0.001)
