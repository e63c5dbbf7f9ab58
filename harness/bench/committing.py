"""Seal a bundle, grade what it holds and nothing else, and write the result."""

from __future__ import annotations

from harness.bench.rundir import AttemptDir
from harness.core.files import write_json
from harness.grading.bundle import load_evidence, seal
from harness.grading.scoring import grade
from harness.model.evidence import AttemptRecord
from harness.model.results import AttemptResult, to_json


def commit(bundle: AttemptDir, record: AttemptRecord) -> tuple[AttemptResult, str]:
    """Write attempt.json, seal the evidence, and grade it; return the result and the digest."""
    write_json(bundle.evidence / "attempt.json", to_json(record))
    digest = seal(bundle.evidence)
    return grade_bundle(bundle), digest


def grade_bundle(bundle: AttemptDir) -> AttemptResult:
    """Grade a bundle from its evidence alone, and write result.json. Idempotent.

    Raises:
        ConfigError: A file of the evidence is missing or was changed.
    """
    evidence, digest = load_evidence(bundle.path)
    result = grade(evidence, digest)
    write_json(bundle.result, to_json(result))
    return result
