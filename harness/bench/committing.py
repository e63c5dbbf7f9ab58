"""Say what an attempt was, seal its bundle, grade what that holds and nothing else.

Called by whoever ends an attempt, and to grade an old one again.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.bench.course import AttemptPlan
from harness.bench.rundir import AttemptDir
from harness.core.files import write_json
from harness.core.naming import attempt_namespace, service_account_user
from harness.grading.bundle import load_evidence, seal
from harness.grading.scoring import grade
from harness.model.agent import AgentOutcome
from harness.model.chain import Chain
from harness.model.evidence import BUNDLE_FORMAT, AttemptRecord, Evidence, Failure, PhaseName
from harness.model.results import AttemptResult, to_json
from harness.model.suite import Task


def record_of(
    plan: AttemptPlan,
    task: Task,
    attempt_id: str,
    *,
    audited: bool,
    agent: AgentOutcome | None,
    failure: Failure | None,
    seconds: Mapping[PhaseName, float],
    audit_chain: Chain | None = None,
) -> AttemptRecord:
    """Return attempt.json. Pure.

    Args:
        plan: What was to be attempted.
        task: Its task, with every placeholder replaced as far as the attempt came.
        attempt_id: The attempt.
        audited: Whether the cluster records requests.
        agent: What the agent spent; None when it never acted.
        failure: Why there is no grade; None when there is one.
        seconds: Phase to seconds.
        audit_chain: What the lines of audit.jsonl come to.
    """
    namespace = attempt_namespace(attempt_id)
    return AttemptRecord(
        run_id=plan.run_id,
        task_id=task.id,
        category=task.category,
        number=plan.number,
        attempt_id=attempt_id,
        seed=plan.seed,
        namespace=namespace,
        user=service_account_user(namespace, "agent"),
        checks=task.checks,
        agent=agent,
        failure=failure,
        seconds=dict(seconds),
        unrecorded=() if audited else ("audit",),
        format=BUNDLE_FORMAT,
        audit_chain=audit_chain,
    )


def commit(bundle: AttemptDir, record: AttemptRecord) -> tuple[AttemptResult, str]:
    """Write attempt.json, seal the evidence, and grade it; return the result and the digest."""
    write_json(bundle.evidence / "attempt.json", to_json(record))
    seal(bundle.evidence)
    # Read back: the grade is of what is on the disk, not of what is in memory.
    evidence, digest = load_evidence(bundle.path)
    return write_grade(bundle, evidence, digest), digest


def write_grade(bundle: AttemptDir, evidence: Evidence, digest: str) -> AttemptResult:
    """Grade verified evidence, and write result.json. Idempotent."""
    result = grade(evidence, digest)
    write_json(bundle.result, to_json(result))
    return result
