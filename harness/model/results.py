"""Results: what a check found, how an attempt ended, what a run reports."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from harness.model.agent import AgentDescription
from harness.model.checks import CheckKind
from harness.model.evidence import PhaseName, Status
from harness.model.frozen import Frozen


class CheckOutcome(Frozen):
    """One check, held against the evidence.

    Attributes:
        detail: What was found and what was needed, so that a reader can contest it.
        held_at_baseline: Whether it held before the agent began; None when that was not graded.
    """

    kind: CheckKind
    description: str
    passed: bool
    detail: str
    weight: float
    held_at_baseline: bool | None = None


class Violation(Frozen):
    """A rule that the agent broke, or tried to.

    Attributes:
        rule: `survivors`, or what refused the request.
        detail: What was done or tried.
        audit_id: The record that shows it, if one does.
    """

    rule: str
    detail: str
    audit_id: str | None = None


class Tokens(Frozen):
    """Tokens of a chat model, as its provider counted them."""

    input: int
    output: int


class Settled(Frozen):
    """What was true of a task that was stranded when the agent began, and what was found.

    Attributes:
        truth: The finding that is right.
        found: The finding of the attestation that settled it; None where nothing did.
        by: Who attested it.
    """

    task: str
    truth: str
    found: str | None
    by: str | None


def _says_nothing(value: Any) -> bool:
    return not value


class ReportedAttempt(Frozen):
    """One attempt in report.json.

    Attributes:
        score: Held weight over total weight; 0 when nothing that failed at baseline holds.
        error: Why the agent did not end by itself, or why there is no grade.
        violations: None where nothing could tell of any: unknown is not the same as none.
        violations_complete: Whether there can be no more than these.
        drawn: Name of the truth that was drawn; None where nothing was hidden.
        settled: What was stranded, by task. Neither is written where it says nothing, so that an
            old bundle gives the bytes that it gave.
    """

    number: int
    seed: int
    status: Status
    score: float
    error: str | None
    seconds: dict[PhaseName, float]
    cost_usd: float | None
    tokens: Tokens | None
    checks: tuple[CheckOutcome, ...]
    violations: tuple[Violation, ...] | None
    violations_complete: bool = True
    drawn: Annotated[str | None, Field(exclude_if=_says_nothing)] = None
    settled: Annotated[tuple[Settled, ...], Field(exclude_if=_says_nothing)] = ()


class AttemptResult(ReportedAttempt):
    """result.json: what is reported, and what ties it to its task and its evidence.

    Attributes:
        evidence_sha256: Digest of the bundle's MANIFEST.
    """

    task_id: str
    category: str
    evidence_sha256: str

    def reported(self) -> ReportedAttempt:
        """Return what report.json says of it. Pure."""
        names = ReportedAttempt.model_fields
        return ReportedAttempt(**{name: getattr(self, name) for name in names})


class Interval(Frozen):
    """A 95 % interval of a proportion."""

    low: float
    high: float


class CategoryScore(Frozen):
    """Mean of the pass@1 of a category's tasks; None when no attempt counts."""

    tasks: int
    pass_at_1: float | None
    interval: Interval | None


class TaskScore(Frozen):
    """One task in report.json. Means are over counted attempts; None when there is none.

    Attributes:
        not_runnable: Why the cluster cannot run it, so that no attempt was begun; None when it can.
    """

    id: str
    category: str
    pass_at_1: float | None
    pass_hat_k: dict[str, float]
    mean_score: float | None
    reference_seconds: float | None
    attempts: tuple[ReportedAttempt, ...]
    not_runnable: str | None = None


class SuiteReference(Frozen):
    """Which suite was run."""

    name: str
    version: str
    digest: str


class ClusterReference(Frozen):
    """Which cluster it ran on."""

    provider: str
    versions: dict[str, str]
    capabilities: tuple[str, ...]


class SpecCounts(Frozen):
    """Verdicts of the safety specs."""

    held: int = 0
    broken: int = 0
    unknown: int = 0


class TeardownReport(Frozen):
    """What was still there after the sweep."""

    leftovers: tuple[str, ...] = ()


class RunReport(Frozen):
    """report.json. Keys may be added, never renamed.

    Attributes:
        index: Mean over categories; None for a subset of the suite, or when a category has none.
        denominators: `scheduled`, `counted`, `not_runnable`, then one key a status.
        seconds: Seconds of the whole run: `cluster`, `platform`, `attempts`, `teardown`, `total`.
        notes: Facts about the environment that a reader must know.
    """

    run: str
    strandline: str
    suite: SuiteReference
    agent: AgentDescription
    cluster: ClusterReference
    categories: dict[str, CategoryScore]
    index: float | None
    tasks: tuple[TaskScore, ...]
    denominators: dict[str, int]
    specs: SpecCounts
    teardown: TeardownReport
    seconds: dict[str, float]
    notes: tuple[str, ...] = ()


def to_json(model: Frozen) -> Any:
    """Return plain JSON data of a model. Pure."""
    return model.model_dump(mode="json")
