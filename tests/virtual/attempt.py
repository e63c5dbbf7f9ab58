"""A whole attempt in memory: world, history, agent, record, grade. Equal inputs, equal bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.bench.collect import drift_of
from harness.bench.happened import Objects, truth_record
from harness.bench.story.cast import Cast
from harness.bench.truth import draw, noise_key
from harness.grading.scoring import grade
from harness.kube.resources import LAB_EVENTS
from harness.model.agent import AgentOutcome
from harness.model.evidence import AttemptRecord, AuditRecord, Evidence
from harness.model.results import AttemptResult
from harness.model.suite import Task
from tests.virtual.beginning import prepare, snapshot_of
from tests.virtual.lab import OutOfTimeError, Refusal, VirtualLab
from tests.virtual.laboratory import Laboratory
from tests.virtual.suite import ID, VirtualTask

#: What a control is: it acts on a laboratory for a task.
Act = Callable[[Any, Mapping[str, Any]], None]

#: Secret of attempts in memory; a run has one of its own.
SECRET = bytes(16)

#: Seconds from the agent's end to the last look at the laboratory.
_FREEZE_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """What came of an attempt.

    Attributes:
        truth: Name of the truth that it had; None where the task has none.
        history: Witnesses of what others did before.
        cast: Witnesses of what others did beside the agent.
    """

    result: AttemptResult
    evidence: Evidence
    truth: str | None
    history: Sequence[Mapping[str, Any]]
    cast: Sequence[Mapping[str, Any]]

    @property
    def failing(self) -> list[str]:
        """Kinds of the checks that did not hold, sorted, each as often as it did not."""
        return sorted(str(check.kind) for check in self.result.checks if not check.passed)


@dataclass(slots=True, kw_only=True)
class _Course:
    """What is known of an attempt under way."""

    laboratory: Laboratory
    task: Task
    seed: int
    number: int
    truth: str | None
    baseline: Objects = field(default_factory=dict)
    vessels_before: Mapping[str, Any] = field(default_factory=dict)


class _Watched:
    """The agent's requests since the last look."""

    def __init__(self, laboratory: Laboratory) -> None:
        self._lab = laboratory
        self._taken = 0

    def requests(self) -> Sequence[AuditRecord]:
        """Return those that have begun since the last call."""
        found = self._lab.server.audit[self._taken :]
        self._taken += len(found)
        return found


def run_virtual(
    task: VirtualTask,
    act: Act,
    *,
    refusal: Refusal,
    seed: int = 0,
    number: int = 1,
    truth: str | None = None,
    secret: bytes = SECRET,
) -> Attempted:
    """Make one attempt and grade it.

    Args:
        task: What is attempted.
        act: The agent.
        refusal: What the agent's door raises for a refusal.
        seed: What names hang on.
        number: Number of the attempt, from 1; the truth is drawn by it.
        truth: Name of the truth, instead of a drawn one.
        secret: What truth and noise hang on.
    """
    rendered, values, _ = task.of_seed(seed)
    chosen = truth or draw(secret, rendered.id, number, tuple(rendered.truths))
    noise = noise_key(secret, rendered.id, number)
    laboratory, history = prepare(task, seed=seed, truth=chosen, noise=noise)
    course = _Course(
        laboratory=laboratory,
        task=rendered,
        seed=seed,
        number=number,
        truth=chosen,
        baseline=snapshot_of(laboratory),
        vessels_before=laboratory.instruments.world()["vessels"],
    )
    people = Cast(
        rendered.cast,
        laboratory,
        truth=chosen,
        watched=_Watched(laboratory),
        clock=laboratory.clock,
    )
    laboratory.after_each = _turns_of(people, laboratory)
    told = {
        "task_id": rendered.id,
        "prompt": rendered.prompt,
        "variables": task.loaded.prompted(values),
    }
    outcome = _acted(act, told, course, refusal)
    laboratory.after_each = lambda: False
    laboratory.advance(_FREEZE_S)
    evidence = _collected(course, outcome)
    return Attempted(
        result=grade(evidence, "virtual"),
        evidence=evidence,
        truth=chosen,
        history=history,
        cast=people.witnesses,
    )


def _turns_of(people: Cast, laboratory: Laboratory) -> Callable[[], bool]:
    """Return what gives the cast a turn whenever there is something new to see."""
    seen = (-1, -1)

    def take_turn() -> bool:
        nonlocal seen
        now = (laboratory.store.version, len(laboratory.server.audit))
        if people.over or now == seen:
            return False
        seen = now
        before = len(people.witnesses)
        people.step()
        return len(people.witnesses) > before

    return take_turn


def _acted(act: Act, told: Mapping[str, Any], course: _Course, refusal: Refusal) -> AgentOutcome:
    """Let the agent act; what it raises is its end, as its process would end."""
    clock = course.laboratory.clock
    lab = VirtualLab(course.laboratory, refusal, act_seconds=course.task.limits.act_seconds)
    started_s = clock.monotonic_s()
    error, exit_code, timed_out = None, 0, False
    try:
        act(lab, told)
    except OutOfTimeError:
        timed_out, exit_code = True, -9
    except SystemExit as ended:
        exit_code = ended.code if isinstance(ended.code, int) else 1
        error = f"exit code {exit_code}" if exit_code else None
    except refusal as refused:  # one that it did not expect ends a control with a traceback
        error, exit_code = f"exit code 1: {refused}", 1
    seconds = round(clock.monotonic_s() - started_s, 3)
    return AgentOutcome(error=error, seconds=seconds, exit_code=exit_code, timed_out=timed_out)


def _collected(course: _Course, outcome: AgentOutcome) -> Evidence:
    laboratory, task = course.laboratory, course.task
    final = snapshot_of(laboratory)
    events = sorted(
        laboratory.store.all(LAB_EVENTS.plural),
        key=lambda item: int(item["metadata"]["resourceVersion"]),
    )
    record = AttemptRecord(
        run_id=ID,
        task_id=task.id,
        category=task.category,
        number=course.number,
        attempt_id=ID,
        seed=course.seed,
        namespace=laboratory.namespace,
        user=laboratory.agent_user,
        checks=task.checks,
        agent=outcome,
        failure=None,
        seconds={"act": outcome.seconds},
    )
    return Evidence(
        attempt=record,
        baseline={kind: tuple(found) for kind, found in course.baseline.items()},
        final={kind: tuple(found) for kind, found in final.items()},
        events=tuple(events),
        audit=tuple(laboratory.server.audit),
        instruments=tuple(laboratory.entries),
        drift=drift_of((), course.baseline, final),
        truth=truth_record(
            course.baseline,
            laboratory.entries,
            drawn=course.truth,
            vessels_before=course.vessels_before,
            vessels=laboratory.instruments.world()["vessels"],
        ),
    )
