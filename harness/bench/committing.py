"""Seal a bundle, grade what it holds and nothing else, and write the result."""

from __future__ import annotations

from harness.bench.rundir import AttemptDir
from harness.core.files import write_json
from harness.grading.bundle import load_evidence, seal
from harness.grading.scoring import grade
from harness.model.evidence import AttemptRecord, Evidence
from harness.model.results import AttemptResult, to_json


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
