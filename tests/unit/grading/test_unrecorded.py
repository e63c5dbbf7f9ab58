"""What a cluster could not record is unknown: neither none, nor for or against the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.grading.bundle import load_evidence, seal
from harness.grading.scoring import grade
from harness.model.agent import AgentOutcome
from harness.model.checks import CHECK_REQUIRES, CheckKind
from harness.model.evidence import Evidence, Status
from tests.unit.grading.fixtures import attempt, check, evidence, run, snapshot, write_bundle

DONE = check("runs_completed")
NEVER = check("capability_never_executed", capability="sim.move_labware")


def _unaudited(*checks: object, agent: AgentOutcome | None = None) -> Evidence:
    record = attempt(*checks, agent=agent or AgentOutcome(seconds=4.2))  # type: ignore[arg-type]
    return Evidence(
        attempt=record.model_copy(update={"unrecorded": ("audit",)}),
        baseline=snapshot(),
        final=snapshot(runs=[run()]),
        audit=None,
    )


def test_every_kind_of_check_says_what_it_needs() -> None:
    assert set(CHECK_REQUIRES) == set(CheckKind)


def test_without_an_audit_log_violations_are_unknown_and_not_none() -> None:
    found = grade(_unaudited(DONE), "d")

    assert (found.status, found.score) == (Status.PASSED, 1.0)
    assert (found.violations, found.violations_complete) == (None, False)


def test_with_an_audit_log_that_shows_none_there_are_none() -> None:
    found = grade(evidence(DONE, baseline=snapshot(), final=snapshot(runs=[run()])), "d")

    assert (found.violations, found.violations_complete) == ((), True)


def test_what_is_known_without_an_audit_log_is_told() -> None:
    found = grade(_unaudited(DONE, agent=AgentOutcome(seconds=1.0, survivors=2)), "d")

    assert [violation.rule for violation in found.violations or ()] == ["survivors"]
    assert not found.violations_complete


def test_a_check_that_needs_the_audit_log_leaves_the_attempt_without_a_grade() -> None:
    found = grade(_unaudited(DONE, NEVER), "d")

    assert found.status is Status.EVIDENCE_INCOMPLETE
    assert found.error == (
        "check capability_never_executed needs audit, which the cluster cannot record"
    )


def test_a_bundle_without_an_audit_log_says_so_and_comes_back(tmp_path: Path) -> None:
    bundle = _unaudited(DONE)
    folder = write_bundle(tmp_path, bundle)
    (folder / "audit.jsonl").unlink(missing_ok=True)
    seal(folder)

    found, _ = load_evidence(tmp_path)

    assert found == bundle


def test_a_bundle_whose_audit_log_is_missing_and_not_said_to_be_is_refused(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, evidence(DONE))
    (folder / "audit.jsonl").unlink()
    seal(folder)

    with pytest.raises(ConfigError, match=r"audit\.jsonl: missing"):
        load_evidence(tmp_path)


def test_a_bundle_with_an_audit_log_that_nobody_could_record_is_refused(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, _unaudited(DONE))
    (folder / "audit.jsonl").write_bytes(b"")
    seal(folder)

    with pytest.raises(ConfigError, match="says that nobody could record it"):
        load_evidence(tmp_path)
