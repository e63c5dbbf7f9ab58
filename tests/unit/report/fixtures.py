"""Reports of runs: what went well, what did not, and what an agent may have written."""

from __future__ import annotations

from typing import Any

from harness.model.agent import AgentDescription
from harness.model.checks import CheckKind
from harness.model.evidence import Status
from harness.model.results import (
    CategoryScore,
    CheckOutcome,
    ClusterReference,
    Interval,
    ReportedAttempt,
    RunReport,
    SpecCounts,
    SuiteReference,
    TaskScore,
    TeardownReport,
    Violation,
)

#: What a hostile agent would write: colour, a bell, a null, a reversed direction, markup, a tag.
HOSTILE = (
    "\x1b[31mred\x07\x00\u202e\ud800\ufffe[bold]b[/bold] <b>&amp;</b> | `x` ]]> "
    "![i](http://x) :smile:\nline"
)


def attempt(status: Status = Status.PASSED, number: int = 1, **changes: Any) -> ReportedAttempt:
    """Return an attempt that took 4.2 s, after 1.5 s of overhead."""
    fields: dict[str, Any] = {
        "number": number,
        "seed": number,
        "status": status,
        "score": 1.0 if status is Status.PASSED else 0.0,
        "error": None,
        "seconds": {"provision": 1.0, "ready": 0.5, "act": 4.2},
        "cost_usd": None,
        "tokens": None,
        "checks": (),
        "violations": (),
    }
    return ReportedAttempt.model_validate({**fields, **changes})


def outcome(*, passed: bool = False, **changes: Any) -> CheckOutcome:
    """Return what a check of completed runs showed."""
    fields: dict[str, Any] = {
        "kind": CheckKind.RUNS_COMPLETED,
        "description": "one run was completed",
        "passed": passed,
        "detail": "found no completed runs of the agent's, needed at least 1",
        "weight": 1.0,
    }
    return CheckOutcome.model_validate({**fields, **changes})


def task(
    name: str, *attempts: ReportedAttempt, category: str = "operate", rate: float | None = 1.0
) -> TaskScore:
    """Return a task with these attempts."""
    return TaskScore(
        id=name,
        category=category,
        pass_at_1=rate,
        pass_hat_k={},
        mean_score=rate,
        reference_seconds=None,
        attempts=attempts,
    )


def report(*tasks: TaskScore, **changes: Any) -> RunReport:
    """Return the report of a run of these tasks, everything counted unless told otherwise."""
    attempts = sum(len(item.attempts) for item in tasks)
    score = CategoryScore(tasks=1, pass_at_1=1.0, interval=Interval(low=0.207, high=1.0))
    fields: dict[str, Any] = {
        "run": "20261130-014512-7f3a91",
        "strandline": "0.1.0",
        "suite": SuiteReference(name="lab-operation", version="1.0", digest="d" * 64),
        "agent": AgentDescription(kind="control", name="reference", isolation="process"),
        "cluster": ClusterReference(provider="embedded", versions={}, capabilities=()),
        "categories": {item.category: score for item in tasks},
        "index": 0.6667,
        "tasks": tasks,
        "denominators": {"scheduled": attempts, "counted": attempts},
        "specs": SpecCounts(held=12),
        "teardown": TeardownReport(),
        "seconds": {"total": 60.0},
    }
    return RunReport.model_validate({**fields, **changes})


def hostile_report() -> RunReport:
    """Return a report in which every text that could be foreign is hostile."""
    failed = attempt(
        Status.AGENT_ERROR,
        error=HOSTILE,
        checks=(outcome(description=HOSTILE, detail=HOSTILE),),
        violations=(Violation(rule=HOSTILE, detail=HOSTILE),),
    )
    return report(
        task(HOSTILE, failed, category=HOSTILE, rate=0.0),
        agent=AgentDescription(kind="command", name=HOSTILE, model=HOSTILE, isolation=HOSTILE),
        suite=SuiteReference(name=HOSTILE, version=HOSTILE, digest=""),
        teardown=TeardownReport(leftovers=(HOSTILE,)),
        notes=(HOSTILE,),
    )
