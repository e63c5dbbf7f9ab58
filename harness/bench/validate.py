"""Prove a suite: agents with known behaviour must score what controls.yaml says.

Where a control scores otherwise by the hidden truth it is run once in each; elsewhere once, in a
truth that goes round with controls and tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.agents.command import ControlAgent
from harness.bench.course import Attempted
from harness.bench.jobs import carry_out
from harness.bench.loader import LoadedSuite, load_controls
from harness.bench.messages import Job
from harness.bench.planning import plan_of, truths_of
from harness.bench.platform import open_session
from harness.bench.rundir import RunJournal, create_run_dir
from harness.bench.runnable import split_runnable
from harness.bench.runner import RunOptions
from harness.bench.tools import Tools
from harness.bench.trials import Trial, check_truths, trials_of
from harness.bench.truth import new_secret, write_secret
from harness.core.naming import new_run_id
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import SuiteError
from harness.model.results import AttemptResult
from harness.model.suite import Expected, ExpectedScore
from harness.specs.loader import LoadedSpec

#: Seconds that a control may act: the slowest needs under 15.
CONTROL_ACT_SECONDS = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One control on one task.

    Attributes:
        truth: The world that the task was in; None where nothing is hidden.
        expected: What controls.yaml says: passed, score, failing.
        found: The same of the attempt, with its status.
        why: Why they differ; empty when they do not.
    """

    control: str
    task: str
    truth: str | None = None
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
    truths: tuple[str, ...] = (),
    clock: Clock = SYSTEM_CLOCK,
) -> Validated:
    """Run the controls on the chosen tasks, on one cluster, and compare.

    Args:
        tools: What this machine gives.
        loaded: The suite.
        specs: Safety specs of the platform.
        options: Which tasks, and how.
        controls: Only these; none for all.
        truths: Only in these, of tasks that have one of them.
        clock: Source of time.

    Raises:
        SuiteError: A control is not in the table, or a truth is none of the tasks'.
    """
    table = load_controls(loaded)
    chosen = loaded.select(options.only)
    names = [name for name in table if not controls or name in controls]
    if unknown := sorted(set(controls) - table.keys()):
        msg = f"{loaded.directory}: no control {unknown[0]!r} in controls.yaml"
        raise SuiteError(msg, hint=f"controls: {', '.join(table)}")
    check_truths(chosen, truths, loaded.directory)
    run_id = new_run_id(clock.now())
    rows: list[Row] = []
    leftovers: list[str] = []
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
        trials = trials_of(names, table, runnable, only=truths)
        secret = new_secret()
        jobs = [
            Job(
                plan=plan_of(
                    run_id,
                    trial.task,
                    trial.number,
                    run_seed=options.seed,
                    secret=secret,
                    truth=trial.truth,
                    act_seconds=options.act_seconds or CONTROL_ACT_SECONDS,
                ),
                agent=ControlAgent(loaded.control_path(trial.control)),
                bundle=run_dir.attempt(f"{trial.control}.{trial.task.task.id}", trial.number),
            )
            for trial in trials
        ]
        found: dict[int, Row] = {}

        def ended(number: int, attempted: Attempted) -> None:
            trial = trials[number]
            row = found[number] = compare(trial, attempted.result)
            leftovers.extend((*attempted.leftovers, *attempted.strangers))
            tools.say(f"{'ok ' if row.ok else 'NOT'} {trial}: {row.why or 'as expected'}")

        try:
            interrupted = carry_out(
                session, jobs, count=options.jobs, journal=journal, say=tools.say, ended=ended
            )
        finally:
            write_secret(run_dir.path, secret, truths_of(jobs))
        rows += [found[number] for number in sorted(found)]
    return Validated(rows=tuple(rows), leftovers=tuple(leftovers), interrupted=interrupted)


def not_run(control: str, task: str, expected: ExpectedScore, reason: str) -> Row:
    """Return the row of a task that the cluster cannot run: it proves nothing. Pure."""
    found = {"status": "not_runnable", "passed": False, "score": None, "failing": []}
    wanted = _wanted(expected)
    return Row(control=control, task=task, expected=wanted, found=found, why=reason)


def compare(trial: Trial, result: AttemptResult) -> Row:
    """Hold an attempt's result against what the control must score. Pure."""
    failing = sorted(str(check.kind) for check in result.checks if not check.passed)
    found = {
        "status": str(result.status),
        "passed": result.status == "passed",
        "score": result.score,
        "failing": failing,
    }
    wanted = _wanted(trial.expected)
    differences = [
        f"{key} {found[key]!r}, expected {value!r}"
        for key, value in wanted.items()
        if found[key] != value
    ]
    if differences and result.error:
        differences.append(f"{result.status}: {result.error}")
    return Row(
        control=trial.control,
        task=trial.task.task.id,
        truth=trial.truth,
        expected=wanted,
        found=found,
        why="; ".join(differences),
    )


def _wanted(expected: Expected) -> dict[str, Any]:
    return {
        "passed": expected.passed,
        "score": expected.score,
        "failing": sorted(str(kind) for kind in expected.failing),
    }
