"""From results to means: per task, per category, and the index, each with what it rests on.

It owns averages, intervals and denominators; it refuses to know why an attempt passed. bench calls
it for report.json. The unit is the task: attempts of one task are not independent of each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.grading.scoring import DECIMALS
from harness.model.evidence import COUNTED, Status
from harness.model.results import (
    AttemptResult,
    CategoryScore,
    Interval,
    TaskScore,
)
from harness.model.suite import Suite, Task

#: Standard normal quantile of a two-sided 95 % interval.
_Z_95 = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a run's results come to.

    Attributes:
        categories: Category to its score, in the suite's order; only those with a selected task.
        index: Mean over the categories; None for a subset, or when a task has no score.
        tasks: The selected tasks in the suite's order.
        denominators: `scheduled`, `counted`, `not_runnable`, then one key a status.
    """

    categories: dict[str, CategoryScore]
    index: float | None
    tasks: tuple[TaskScore, ...]
    denominators: dict[str, int]


def summarise(
    results: Iterable[AttemptResult],
    *,
    suite: Suite,
    selected: Iterable[str],
    scheduled: int,
    not_runnable: Mapping[str, str] | None = None,
) -> Summary:
    """Return the means over a run's results. Pure.

    Args:
        results: In any order; those of tasks that were not selected are left out.
        suite: The whole suite.
        selected: Ids of the tasks that were to be run.
        scheduled: Attempts that were to be run, those that never began among them.
        not_runnable: Task id to why the cluster cannot run it.
    """
    reasons = not_runnable or {}
    chosen = frozenset(selected)
    by_task: dict[str, list[AttemptResult]] = {
        task.id: [] for task in suite.tasks if task.id in chosen
    }
    for result in results:
        if result.task_id in by_task:
            by_task[result.task_id].append(result)
    listed = [task for task in suite.tasks if task.id in by_task]
    rates = {task.id: _pass_rate(by_task[task.id]) for task in listed}
    means = {
        category: _mean(rates[task.id] for task in listed if task.category == category)
        for category in suite.categories
        if any(task.category == category for task in listed)
    }
    return Summary(
        categories={
            category: _category(category, mean, listed, rates) for category, mean in means.items()
        },
        index=_index(suite, rates, means),
        tasks=tuple(
            _task(task, by_task[task.id], rates[task.id], reasons.get(task.id)) for task in listed
        ),
        denominators=_denominators(by_task, scheduled, reasons),
    )


def pass_hat_k(passed: int, counted: int) -> dict[str, float]:
    """Return the chance that k attempts of these all passed, for k from 1 to `counted`. Pure.

    Unbiased, C(passed, k) / C(counted, k), and not extrapolated past what was run.
    Source: tau-bench, arXiv 2406.12045.
    """
    return {
        str(k): round(math.comb(passed, k) / math.comb(counted, k), DECIMALS)
        for k in range(1, counted + 1)
    }


def wilson(mean: float, tasks: int) -> Interval:
    """Return the 95 % Wilson interval of a mean over `tasks` values between 0 and 1. Pure.

    With one attempt a task the values are 0 or 1 and this is the interval of a proportion. With
    more it stays on the safe side: no values between 0 and 1 vary more than mean * (1 - mean). It
    never shrinks to a point, and needs no drawing of samples.
    """
    z2 = _Z_95 * _Z_95
    centre = (mean + z2 / (2 * tasks)) / (1 + z2 / tasks)
    half = _Z_95 / (1 + z2 / tasks) * math.sqrt(mean * (1 - mean) / tasks + z2 / (4 * tasks**2))
    return Interval(
        low=round(max(0.0, centre - half), DECIMALS), high=round(min(1.0, centre + half), DECIMALS)
    )


def _pass_rate(results: Sequence[AttemptResult]) -> float | None:
    return _mean(
        float(result.status is Status.PASSED) for result in results if result.status in COUNTED
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)


def _category(
    category: str, mean: float | None, listed: Sequence[Task], rates: Mapping[str, float | None]
) -> CategoryScore:
    inside = [task for task in listed if task.category == category]
    scored = sum(rates[task.id] is not None for task in inside)
    return CategoryScore(
        tasks=len(inside),
        pass_at_1=_rounded(mean),
        interval=None if mean is None else wilson(mean, scored),
    )


def _index(
    suite: Suite, rates: Mapping[str, float | None], means: Mapping[str, float | None]
) -> float | None:
    # A task without a counted attempt makes a subset of the suite, whatever was selected.
    if any(rates.get(task.id) is None for task in suite.tasks):
        return None
    return _rounded(_mean(means.values()))


def _task(
    task: Task, results: Sequence[AttemptResult], rate: float | None, not_runnable: str | None
) -> TaskScore:
    counted = [result for result in results if result.status in COUNTED]
    passed = sum(result.status is Status.PASSED for result in counted)
    return TaskScore(
        id=task.id,
        category=task.category,
        pass_at_1=_rounded(rate),
        pass_hat_k=pass_hat_k(passed, len(counted)),
        mean_score=_rounded(_mean(result.score for result in counted)),
        reference_seconds=task.reference_seconds,
        attempts=tuple(
            result.reported() for result in sorted(results, key=lambda result: result.number)
        ),
        not_runnable=not_runnable,
    )


def _denominators(
    by_task: Mapping[str, Sequence[AttemptResult]], scheduled: int, not_runnable: Mapping[str, str]
) -> dict[str, int]:
    statuses = [result.status for results in by_task.values() for result in results]
    return {
        "scheduled": scheduled,
        "counted": sum(status in COUNTED for status in statuses),
        # Every task has as many attempts as any other.
        "not_runnable": scheduled * len(not_runnable) // max(1, len(by_task)),
        **{status.value: statuses.count(status) for status in Status},
    }
