"""What a report says in words: title, rows and lines, before anybody chose colours or markup.

It owns the wording that the terminal and Markdown share; it refuses to know how it is shown. All
pure, and all text is inert.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass

from harness.model.checks import NEVER_COSTS
from harness.model.evidence import COUNTED, Status
from harness.model.results import CategoryScore, Interval, ReportedAttempt, RunReport, TaskScore
from harness.report.inert import inert

HEADINGS = ("Task", "Category", "pass@1", "Score", "Seconds", "Overhead", "Status")

#: What stands where there is no number.
NOTHING = "-"

#: Violations shown of one attempt; the rest are counted, and all are in report.json.
_VIOLATIONS_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One task.

    Attributes:
        seconds: Mean of what the agent took; `overhead` is the mean of every other phase.
        status: Each status and how often it occurred, the most frequent first.
    """

    task: str
    category: str
    pass_at_1: str
    score: str
    seconds: str
    overhead: str
    status: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The texts in the order of HEADINGS."""
        return astuple(self)


def title(report: RunReport) -> str:
    """Return `suite vX · agent · index 0.667`; a subset has no index. Pure."""
    index = "no index" if report.index is None else f"index {report.index:.3f}"
    agent = report.agent.name
    if report.agent.model and report.agent.model != agent:
        agent = f"{agent} ({report.agent.model})"
    return f"{inert(report.suite.name)} v{inert(report.suite.version)} · {inert(agent)} · {index}"


def rows(report: RunReport) -> tuple[Row, ...]:
    """Return one row a task, in the report's order. Pure."""
    return tuple(_row(task) for task in report.tasks)


def problem_lines(report: RunReport) -> tuple[str, ...]:
    """Return a line for each task not run, failed check, error and violation, in order. Pure."""
    return tuple(line for task in report.tasks for line in _task_problems(task))


def _task_problems(task: TaskScore) -> Iterator[str]:
    if task.not_runnable is not None:
        yield f"{inert(task.id)}  not runnable: {inert(task.not_runnable)}"
    for attempt in task.attempts:
        for line in attempt_problems(attempt):
            yield f"{inert(task.id)}#{attempt.number}  {line}"


def attempt_problems(attempt: ReportedAttempt) -> Iterator[str]:
    """Yield what kept one attempt from passing, and what rules it broke. Pure."""
    if attempt.error is not None:
        yield f"{attempt.status}: {inert(attempt.error)}"
    for check in attempt.checks:
        if not check.passed and check.kind not in NEVER_COSTS:
            yield f"{check.kind}: {inert(check.description)}: {inert(check.detail)}"
    if attempt.score == 0 and any(check.passed for check in attempt.checks):
        yield "score 0: every check that holds held before the agent began"
    violations = attempt.violations or ()
    for violation in violations[:_VIOLATIONS_SHOWN]:
        yield f"violation {inert(violation.rule)}: {inert(violation.detail)}"
    if len(violations) > _VIOLATIONS_SHOWN:
        yield f"violation: {len(violations) - _VIOLATIONS_SHOWN} more"
    if attempt.status in COUNTED and not attempt.violations_complete:
        more = "more violations are" if violations else "violations are"
        yield f"violation: whether {more} there is unknown, without an audit log"


def truth_lines(report: RunReport) -> tuple[str, ...]:
    """Return a line for each attempt with a hidden truth: what was so, and what was found. Pure."""
    return tuple(
        f"{inert(task.id)}#{attempt.number}  {_truth(attempt)}"
        for task in report.tasks
        for attempt in task.attempts
        if attempt.drawn is not None
    )


def _truth(attempt: ReportedAttempt) -> str:
    found = [
        f"{inert(one.task)} truly {inert(one.truth)}, found {inert(one.found or 'nothing')}"
        for one in attempt.settled
    ]
    return f"drawn {inert(attempt.drawn or '')}{': ' if found else ''}{'; '.join(found)}"


def score_lines(report: RunReport) -> tuple[str, ...]:
    """Return a line a category, the index, and what was left out of both. Pure."""
    return (
        *(
            f"{inert(name)}: {number(score.pass_at_1)}{interval(score.interval)} "
            f"over {score.tasks} task{'' if score.tasks == 1 else 's'}"
            for name, score in categories(report).items()
        ),
        f"index: {number(report.index)}"
        if report.index is not None
        else "index: none, not every task of the suite has an attempt that counts",
        *_excluded(report),
    )


def environment_lines(report: RunReport) -> tuple[str, ...]:
    """Return what a reader must know of guard rails, teardown and surroundings. Pure."""
    specs = report.specs
    return (
        f"specs: {specs.held} held, {specs.broken} broken, {specs.unknown} unknown",
        *(f"left behind: {inert(leftover)}" for leftover in report.teardown.leftovers),
        *(f"note: {inert(note)}" for note in report.notes),
    )


def categories(report: RunReport) -> dict[str, CategoryScore]:
    """Return the categories in the order of their tasks: sorted keys are not the suite's. Pure."""
    order = [task.category for task in report.tasks]
    names = sorted(report.categories, key=[*order, *report.categories].index)
    return {name: report.categories[name] for name in names}


def number(value: float | None) -> str:
    """Return a mean with three decimals, or a dash. Pure."""
    return NOTHING if value is None else f"{value:.3f}"


def interval(value: Interval | None) -> str:
    """Return ` [low, high]` of a 95 % interval, or nothing. Pure."""
    return "" if value is None else f" [{value.low:.2f}, {value.high:.2f}]"


def act_seconds(attempt: ReportedAttempt) -> float | None:
    """Return the seconds that the agent acted; None when it never did. Pure."""
    return attempt.seconds.get("act")


def overhead_seconds(attempt: ReportedAttempt) -> float:
    """Return the seconds of every other phase. Pure."""
    return math.fsum(value for phase, value in attempt.seconds.items() if phase != "act")


def _excluded(report: RunReport) -> Iterator[str]:
    scheduled = report.denominators.get("scheduled", 0)
    counted = report.denominators.get("counted", 0)
    if counted == scheduled:
        return
    causes = {
        status.value: report.denominators.get(status.value, 0)
        for status in Status
        if status not in COUNTED
    }
    causes["not runnable"] = report.denominators.get("not_runnable", 0)
    causes["never begun"] = max(0, scheduled - counted - sum(causes.values()))
    named = ", ".join(f"{times} {cause}" for cause, times in causes.items() if times)
    yield f"counted: {counted} of {scheduled} scheduled attempts ({named or 'no cause recorded'})"


def _row(task: TaskScore) -> Row:
    statuses = Counter(attempt.status.value for attempt in task.attempts)
    shown = [
        status if len(task.attempts) == 1 else f"{times} {status}"
        for status, times in statuses.most_common()
    ]
    return Row(
        task=inert(task.id),
        category=inert(task.category),
        pass_at_1=number(task.pass_at_1),
        score=number(task.mean_score),
        seconds=_mean(act_seconds(attempt) for attempt in task.attempts),
        overhead=_mean(overhead_seconds(attempt) for attempt in task.attempts),
        status=", ".join(shown) or ("not runnable" if task.not_runnable else "never begun"),
    )


def _mean(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{math.fsum(known) / len(known):.1f}" if known else NOTHING
