"""Prove a suite: agents with known behaviour must score what controls.yaml says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.agents.command import ControlAgent
from harness.bench.attempt import Attempt
from harness.bench.course import AttemptPlan
from harness.bench.drawing import attempt_seed
from harness.bench.loader import LoadedSuite, load_controls
from harness.bench.platform import open_session
from harness.bench.rundir import RunJournal, create_run_dir
from harness.bench.runnable import split_runnable
from harness.bench.runner import RunOptions
from harness.bench.tools import Tools
from harness.core.naming import new_run_id
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.model.results import AttemptResult
from harness.model.suite import ExpectedScore
from harness.specs.loader import LoadedSpec

#: Seconds that a control may act: the slowest needs under 15.
CONTROL_ACT_SECONDS = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One control on one task.

    Attributes:
        expected: What controls.yaml says: passed, score, failing.
        found: The same of the attempt, with its status.
        why: Why they differ; empty when they do not.
    """

    control: str
    task: str
    expected: dict[str, Any]
    found: dict[str, Any]
    why: str

    @property
    def ok(self) -> bool:
        """Whether the control scored what it must."""
        return not self.why


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """All rows, and what was left behind."""

    rows: tuple[Row, ...]
    leftovers: tuple[str, ...]
    interrupted: bool

    @property
    def ok(self) -> bool:
        """Whether the suite may be believed."""
        return bool(self.rows) and all(row.ok for row in self.rows) and not self.leftovers


def validate_suite(
    tools: Tools,
    loaded: LoadedSuite,
    specs: Sequence[LoadedSpec],
    options: RunOptions,
    *,
    controls: tuple[str, ...] = (),
    clock: Clock = SYSTEM_CLOCK,
) -> Validated:
    """Run the controls on the chosen tasks, on one cluster, and compare."""
    table = load_controls(loaded)
    chosen = loaded.select(options.only)
    names = [name for name in table if not controls or name in controls]
    run_id = new_run_id(clock.now())
    rows: list[Row] = []
    leftovers: list[str] = []
    interrupted = False
    seconds: dict[str, float] = {}
    with open_session(
        tools, specs, provider=options.provider, run_id=run_id, seconds=seconds, clock=clock
    ) as session:
        run_dir = create_run_dir(
            options.runs_dir, run_id, {"run": run_id, "validates": loaded.suite.name}
        )
        journal = RunJournal(run_dir.path / "journal.jsonl", clock=clock)
        runnable, not_runnable = split_runnable(chosen, session.cluster.capabilities)
        rows += [
            not_run(name, task_id, table[name][task_id], reason)
            for name in names
            for task_id, reason in not_runnable.items()
        ]
        for name, task in [(name, task) for name in names for task in runnable]:
            attempted = Attempt(
                session,
                AttemptPlan(
                    run_id=run_id,
                    task=task,
                    number=1,
                    seed=attempt_seed(options.seed, task.task.id, 1),
                    act_seconds=options.act_seconds or CONTROL_ACT_SECONDS,
                ),
                ControlAgent(loaded.control_path(name)),
                bundle=run_dir.attempt(f"{name}.{task.task.id}", 1),
                journal=journal,
                say=tools.say,
                clock=clock,
            ).run()
            row = compare(name, task.task.id, table[name][task.task.id], attempted.result)
            rows.append(row)
            leftovers += [*attempted.leftovers, *attempted.strangers]
            tools.say(
                f"{'ok ' if row.ok else 'NOT'} {name} on {task.task.id}: {row.why or 'as expected'}"
            )
            if attempted.interrupted:
                interrupted = True
                break
    return Validated(rows=tuple(rows), leftovers=tuple(leftovers), interrupted=interrupted)


def not_run(control: str, task: str, expected: ExpectedScore, reason: str) -> Row:
    """Return the row of a task that the cluster cannot run: it proves nothing. Pure."""
    found = {"status": "not_runnable", "passed": False, "score": None, "failing": []}
    wanted = _wanted(expected)
    return Row(control=control, task=task, expected=wanted, found=found, why=reason)


def compare(control: str, task: str, expected: ExpectedScore, result: AttemptResult) -> Row:
    """Hold an attempt's result against what the control must score. Pure."""
    failing = sorted(str(check.kind) for check in result.checks if not check.passed)
    found = {
        "status": str(result.status),
        "passed": result.status == "passed",
        "score": result.score,
        "failing": failing,
    }
    wanted = _wanted(expected)
    differences = [
        f"{key} {found[key]!r}, expected {value!r}"
        for key, value in wanted.items()
        if found[key] != value
    ]
    if differences and result.error:
        differences.append(f"{result.status}: {result.error}")
    return Row(control=control, task=task, expected=wanted, found=found, why="; ".join(differences))


def _wanted(expected: ExpectedScore) -> dict[str, Any]:
    return {
        "passed": expected.passed,
        "score": expected.score,
        "failing": sorted(str(kind) for kind in expected.failing),
    }
