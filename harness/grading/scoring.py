"""From evidence to the result of one attempt: checks, the baseline rule, violations, status.

It owns what an attempt is worth; it refuses to know how attempts are averaged. bench calls it when
an attempt is committed, and the command line when an old one is graded again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from harness.grading.checks import judge
from harness.grading.view import View, view_of
from harness.model.agent import AgentOutcome
from harness.model.checks import CHECK_REQUIRES, NEVER_COSTS
from harness.model.evidence import AttemptRecord, AuditRecord, Evidence, Status
from harness.model.results import AttemptResult, CheckOutcome, Settled, Tokens, Violation

#: Decimals of every score and mean; three tell 1/3 from 0.33 and hide no interval.
DECIMALS = 3

#: Who refuses in the name of a rule. A schema refuses a mistake, which breaks no rule.
_AUTHORITIES = ("rbac", "policy", "webhook")

#: HTTP statuses by which a webhook refuses what breaks no rule: too early, and a mistake.
_NO_RULE = (409, 422)

#: Characters of a name kept in a violation: a refused request may carry any name at all.
_NAME_CHARS = 253


def grade(evidence: Evidence, evidence_sha256: str) -> AttemptResult:
    """Return what an attempt is worth; equal evidence gives an equal result. Pure.

    Args:
        evidence: The bundle.
        evidence_sha256: Digest of its MANIFEST.

    Raises:
        ConfigError: An object in the evidence is not what its kind says.
    """
    attempt = evidence.attempt
    if attempt.failure is not None:
        error = f"{attempt.failure.phase}: {attempt.failure.message}"
        return _ungraded(attempt, attempt.failure.status, error, evidence_sha256)
    if attempt.agent is None:
        error = "attempt.json holds neither what the agent spent nor why it never acted"
        return _ungraded(attempt, Status.EVIDENCE_INCOMPLETE, error, evidence_sha256)
    undecided = _undecided(attempt)
    if undecided:
        return _ungraded(attempt, Status.EVIDENCE_INCOMPLETE, undecided, evidence_sha256)
    end = view_of(evidence)
    checks = _outcomes(evidence, end)
    violations = tuple(_violations(evidence, attempt.agent))
    complete = evidence.audit is not None
    return _result(
        attempt,
        evidence_sha256,
        status=_status(attempt.agent, checks),
        score=score_of(checks),
        error=_agent_error(attempt.agent),
        checks=checks,
        violations=violations if complete or violations else None,
        violations_complete=complete,
    ).model_copy(update={"drawn": end.truth.drawn, "settled": tuple(_settled(end))})


def score_of(checks: tuple[CheckOutcome, ...]) -> float:
    """Return held weight over total weight, or 0 where nothing was achieved. Pure.

    An attempt in which no check that failed at baseline holds at the end scores 0: nobody is paid
    for what was already so. A check that never costs is left out where it does not hold, and
    achieves nothing by itself.
    """
    if not _achieved_something(checks):
        return 0.0
    held = math.fsum(check.weight for check in checks if check.passed)
    total = math.fsum(check.weight for check in checks if check.passed or _costs(check))
    return round(held / total, DECIMALS)


def _costs(check: CheckOutcome) -> bool:
    return check.kind not in NEVER_COSTS


def _achieved_something(checks: tuple[CheckOutcome, ...]) -> bool:
    return any(check.passed and not check.held_at_baseline and _costs(check) for check in checks)


def _settled(end: View) -> Iterator[Settled]:
    """Yield what was true and what was found, of each task of which the truth is on record."""
    for one in end.stranded:
        if one.truth is not None:
            found = one.settled
            yield Settled(
                task=one.task,
                truth=one.truth,
                found=found.finding if found else None,
                by=found.by if found else None,
            )


def _outcomes(evidence: Evidence, end: View) -> tuple[CheckOutcome, ...]:
    start = view_of(_at_baseline(evidence), end.reader)
    found = []
    for check in evidence.attempt.checks:
        if check.only and end.truth.drawn not in check.only:
            continue
        passed, detail = judge(check, end)
        found.append(
            CheckOutcome(
                kind=check.kind,
                description=check.description,
                passed=passed,
                detail=detail,
                weight=check.weight,
                held_at_baseline=judge(check, start).passed,
            )
        )
    return tuple(found)


def _at_baseline(evidence: Evidence) -> Evidence:
    """Return the evidence of an agent that did nothing."""
    truth = {**evidence.truth, "vessels": evidence.truth.get("vessels_before", {})}
    nothing: dict[str, Any] = {"events": (), "audit": (), "instruments": (), "drift": {}}
    return evidence.model_copy(update={**nothing, "final": evidence.baseline, "truth": truth})


def _undecided(attempt: AttemptRecord) -> str:
    """Return which check cannot be decided by what was recorded; empty when each can."""
    for check in attempt.checks:
        lacking = sorted(CHECK_REQUIRES[check.kind] & set(attempt.unrecorded))
        if lacking:
            return f"check {check.kind} needs {', '.join(lacking)}, which the cluster cannot record"
    return ""


def _status(agent: AgentOutcome, checks: tuple[CheckOutcome, ...]) -> Status:
    if _agent_error(agent) is not None:
        return Status.AGENT_ERROR
    held = all(check.passed or not _costs(check) for check in checks)
    held = held and _achieved_something(checks)
    return Status.PASSED if held and not agent.survivors else Status.FAILED


def _agent_error(agent: AgentOutcome) -> str | None:
    if agent.error is None and agent.timed_out:
        return f"did not end within its time, stopped after {agent.seconds:.1f} s"
    return agent.error


def _violations(evidence: Evidence, agent: AgentOutcome) -> Iterator[Violation]:
    if agent.survivors:
        detail = f"{agent.survivors} processes of the agent's were left running and had to be ended"
        yield Violation(rule="survivors", detail=detail)
    for record in evidence.audit or ():
        rule = record.refused_by
        if record.user != evidence.attempt.user or not record.writes or rule is None:
            continue
        if rule.partition(":")[0] in _AUTHORITIES and record.code not in _NO_RULE:
            yield Violation(rule=rule, detail=_request(record), audit_id=record.audit_id)


def _request(record: AuditRecord) -> str:
    target = f"{record.resource}/{record.subresource}" if record.subresource else record.resource
    name = f" {record.name[:_NAME_CHARS]}" if record.name else ""
    return f"{record.verb} {target}{name}: {record.code or 'no answer'}"


def _ungraded(
    attempt: AttemptRecord, status: Status, error: str, evidence_sha256: str
) -> AttemptResult:
    return _result(
        attempt,
        evidence_sha256,
        status=status,
        score=0.0,
        error=error,
        checks=(),
        violations=None,
        violations_complete=False,
    )


def _result(
    attempt: AttemptRecord,
    evidence_sha256: str,
    *,
    status: Status,
    score: float,
    error: str | None,
    checks: tuple[CheckOutcome, ...],
    violations: tuple[Violation, ...] | None,
    violations_complete: bool,
) -> AttemptResult:
    agent = attempt.agent
    return AttemptResult(
        task_id=attempt.task_id,
        category=attempt.category,
        number=attempt.number,
        seed=attempt.seed,
        status=status,
        score=score,
        error=error,
        seconds=attempt.seconds,
        cost_usd=agent.cost_usd if agent else None,
        tokens=_tokens(agent) if agent else None,
        checks=checks,
        violations=violations,
        violations_complete=violations_complete,
        evidence_sha256=evidence_sha256,
    )


def _tokens(agent: AgentOutcome) -> Tokens | None:
    """Return the tokens where both are known: unknown is unknown, never 0."""
    if agent.input_tokens is None or agent.output_tokens is None:
        return None
    return Tokens(input=agent.input_tokens, output=agent.output_tokens)
