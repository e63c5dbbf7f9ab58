"""What is to be attempted, how far it has come, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.bench.loader import LoadedTask
from harness.model.agent import AgentOutcome
from harness.model.chain import Chain
from harness.model.evidence import Failure, PhaseName
from harness.model.results import AttemptResult
from harness.model.spec import CaseResult
from harness.model.suite import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptPlan:
    """What is to be attempted.

    Attributes:
        act_seconds: Bound that replaces the task's own when it is shorter; None keeps that.
        truth: Name of one of the task's truths; None where it has none.
        noise_key: What the errors of readings hang on; the agent must not know it.
    """

    run_id: str
    task: LoadedTask
    number: int
    seed: int
    act_seconds: float | None = None
    truth: str | None = field(default=None, repr=False)
    noise_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """What came of it.

    Attributes:
        leftovers: What the sweep could not remove.
        cases: What the safety specs showed on the live cluster.
        strangers: Objects of others that changed while it ran.
        interrupted: Whether somebody pressed Ctrl-C.
    """

    result: AttemptResult
    leftovers: tuple[str, ...]
    cases: tuple[CaseResult, ...]
    strangers: tuple[str, ...]
    interrupted: bool


@dataclass(slots=True, kw_only=True)
class Course:
    """How far an attempt has come; written by the attempt alone.

    Attributes:
        phase: The phase that began last.
        task: The task; with every placeholder replaced once the variables are known.
        outcome: What the agent spent; None until it has acted.
        failure: Why there is no grade, if there is none.
        after: What the safety specs showed in the attempt's own namespace.
        chain: What the lines of the audit log's slice come to; None where nobody records.
    """

    phase: PhaseName = "provision"
    seconds: dict[PhaseName, float] = field(default_factory=dict)
    task: Task
    outcome: AgentOutcome | None = None
    failure: Failure | None = None
    interrupted: bool = False
    after: tuple[CaseResult, ...] = ()
    chain: Chain | None = None
