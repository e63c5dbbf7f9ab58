"""A run of a suite: every attempt, then one report. Called by the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import __version__
from harness.agents.agent import Agent
from harness.bench.course import Attempted
from harness.bench.jobs import carry_out
from harness.bench.loader import LoadedSuite
from harness.bench.messages import Job
from harness.bench.planning import plan_of, truths_of
from harness.bench.platform import open_session
from harness.bench.rundir import RunDir, RunJournal, create_run_dir
from harness.bench.runnable import split_runnable
from harness.bench.session import Session
from harness.bench.tally import Tally
from harness.bench.tools import Tools
from harness.bench.truth import new_secret, write_secret
from harness.cluster.provider import ClusterProvider
from harness.core.files import read_json, write_json
from harness.core.naming import new_run_id
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import TeardownError
from harness.grading.statistics import summarise
from harness.model.agent import AgentDescription
from harness.model.evidence import Status
from harness.model.results import (
    AttemptResult,
    ClusterReference,
    RunReport,
    SpecCounts,
    SuiteReference,
    TeardownReport,
    to_json,
)
from harness.model.suite import Suite
from harness.report.outputs import write_reports
from harness.specs.loader import LoadedSpec
from harness.terraform.engine import ambient_terraform_variables


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What is to be run.

    Attributes:
        only: Task ids; empty means the whole suite.
        repeats: Attempts a task.
        seed: Decides every drawn name.
        provider: Who gives the cluster.
        act_seconds: Bound that replaces longer ones of the tasks.
        jobs: Attempts side by side; 1 keeps them in this process.
        runs_dir: Where the run's folder goes.
    """

    only: tuple[str, ...] = ()
    repeats: int = 1
    seed: int
    provider: ClusterProvider
    act_seconds: float | None = None
    jobs: int = 1
    runs_dir: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a run ended.

    Attributes:
        interrupted: Whether somebody pressed Ctrl-C; everything was swept all the same.
    """

    run_dir: RunDir
    report: RunReport
    interrupted: bool


def run_suite(
    tools: Tools,
    loaded: LoadedSuite,
    specs: Sequence[LoadedSpec],
    agent: Agent,
    options: RunOptions,
    *,
    clock: Clock = SYSTEM_CLOCK,
) -> Ran:
    """Run the chosen tasks and write runs/RUN with its report.

    Raises:
        SuiteError: There is no such task; nothing was made.
        HarnessError: No cluster, no platform, or a gate that did not open.
    """
    chosen = loaded.select(options.only)
    run_id = new_run_id(clock.now())
    began_s = clock.monotonic_s()
    seconds: dict[str, float] = {}
    run_dir: RunDir | None = None
    tally = Tally()
    secret = new_secret()
    jobs: Sequence[Job] = ()
    try:
        with open_session(
            tools, specs, provider=options.provider, run_id=run_id, seconds=seconds, clock=clock
        ) as session:
            attempts_s = clock.monotonic_s()
            runnable, not_runnable = split_runnable(chosen, session.cluster.capabilities)
            for name, reason in not_runnable.items():
                tools.say(f"{name} is not runnable: {reason}")
            facts = _facts(run_id, loaded, agent, options, session)
            facts["not_runnable"] = not_runnable
            run_dir = create_run_dir(options.runs_dir, run_id, facts)
            journal = RunJournal(run_dir.path / "journal.jsonl", clock=clock)
            jobs = [
                Job(
                    plan=plan_of(
                        run_id,
                        task,
                        number,
                        run_seed=options.seed,
                        secret=secret,
                        act_seconds=options.act_seconds,
                    ),
                    agent=agent,
                    bundle=run_dir.attempt(task.task.id, number),
                )
                for task in runnable
                for number in range(1, options.repeats + 1)
            ]

            def ended(number: int, attempted: Attempted) -> None:
                tally.add(number, attempted)
                tools.say(_progress(len(tally.ended), len(jobs), attempted.result))

            tally.interrupted = carry_out(
                session,
                jobs,
                count=options.jobs,
                journal=journal,
                say=tools.say,
                ended=ended,
                clock=clock,
            )
            ended_s = clock.monotonic_s()
            seconds["attempts"] = round(ended_s - attempts_s, 3)
        seconds["teardown"] = round(clock.monotonic_s() - ended_s, 3)
    except KeyboardInterrupt:
        if run_dir is None:
            raise
        tally.interrupted = True
    except TeardownError as error:  # the attempts are on record, and so is what they left
        if run_dir is None:
            raise
        tally.left = tuple(error.leftovers)
    finally:
        if run_dir is not None:  # nobody acts any more, so it may be written down
            write_secret(run_dir.path, secret, truths_of(jobs))
    seconds["total"] = round(clock.monotonic_s() - began_s, 3)
    seen = {
        "seconds": seconds,
        "specs": to_json(tally.specs),
        "teardown": {"leftovers": tally.leftovers},
    }
    write_json(run_dir.run_file, {**read_json(run_dir.run_file), **seen})
    report = build_report(run_dir, tally.results)
    write_reports(report, run_dir.path)
    return Ran(run_dir=run_dir, report=report, interrupted=tally.interrupted)


def build_report(run_dir: RunDir, results: Sequence[AttemptResult]) -> RunReport:
    """Return the report of a run from its folder and its results; needs no cluster."""
    facts = read_json(run_dir.run_file)
    suite = Suite.model_validate(facts["suite"])
    summary = summarise(
        results,
        suite=suite,
        selected=facts["selected"],
        scheduled=facts["scheduled"],
        not_runnable=facts.get("not_runnable", {}),
    )
    return RunReport(
        run=facts["run"],
        strandline=facts["strandline"],
        suite=SuiteReference(name=suite.name, version=suite.version, digest=suite.digest),
        agent=AgentDescription.model_validate(facts["agent"]),
        cluster=ClusterReference.model_validate(facts["cluster"]),
        categories=summary.categories,
        index=summary.index,
        tasks=summary.tasks,
        denominators=summary.denominators,
        specs=SpecCounts.model_validate(facts["specs"]),
        teardown=TeardownReport.model_validate(facts["teardown"]),
        seconds=facts["seconds"],
        notes=tuple(facts["notes"]),
    )


def _facts(
    run_id: str, loaded: LoadedSuite, agent: Agent, options: RunOptions, session: Session
) -> dict[str, object]:
    """Return what run.json says from the start; the rest is added at the end."""
    chosen = loaded.select(options.only)
    scrubbed = ambient_terraform_variables(os.environ)
    notes = [f"isolation: {agent.description.isolation}"]
    if options.jobs > 1:
        notes.append(f"attempts side by side: {options.jobs}")
    if scrubbed:
        notes.append(f"kept from Terraform: {', '.join(scrubbed)}")
    return {
        "run": run_id,
        "strandline": __version__,
        "suite": to_json(loaded.suite),
        "selected": [task.task.id for task in chosen],
        "scheduled": len(chosen) * options.repeats,
        "repeats": options.repeats,
        "seed": options.seed,
        "agent": to_json(agent.description),
        "cluster": to_json(_cluster_reference(session)),
        "notes": notes,
    }


def _cluster_reference(session: Session) -> ClusterReference:
    cluster = session.cluster
    return ClusterReference(
        provider=cluster.provider,
        versions={**cluster.versions, session.engine.name: session.engine.version},
        capabilities=tuple(sorted(cluster.capabilities)),
    )


def _progress(index: int, total: int, result: AttemptResult) -> str:
    seconds = sum(result.seconds.values())
    line = f"[{index}/{total}] {result.task_id}#{result.number} {result.status} {result.score:.3f}"
    why = f": {result.error}" if result.error and result.status is not Status.PASSED else ""
    return f"{line} in {seconds:.1f} s{why}"
