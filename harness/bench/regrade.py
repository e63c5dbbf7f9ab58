"""Grade a finished run again from its evidence, with no cluster: the same bytes come back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.bench.committing import write_grade
from harness.bench.rundir import open_run_dir
from harness.bench.runner import build_report
from harness.core.files import read_lines
from harness.errors import ConfigError
from harness.grading.bundle import load_evidence
from harness.model.results import RunReport
from harness.report.outputs import write_reports


@dataclass(frozen=True, slots=True, kw_only=True)
class Regraded:
    """What grading again showed.

    Attributes:
        changed: Results that were there and are not the same now.
    """

    report: RunReport
    changed: tuple[str, ...]


def regrade(path: Path) -> Regraded:
    """Grade every bundle of a run, and write its results and its report again.

    Raises:
        ConfigError: It is no run, or evidence was changed after it was sealed.
    """
    run_dir = open_run_dir(path)
    sealed = {
        line["attempt"]: line["evidence_sha256"]
        for line in read_lines(run_dir.path / "journal.jsonl")
        if line["event"] == "committed"
    }
    results, changed = [], []
    for bundle in run_dir.attempts():
        evidence, digest = load_evidence(bundle.path)
        expected = sealed.get(evidence.attempt.attempt_id)
        if expected != digest:
            msg = f"{bundle.evidence}: MANIFEST is {digest[:12]}, the journal says {expected}"
            raise ConfigError(msg, hint="restore the evidence; it cannot be graded as it is")
        before = bundle.result.read_bytes() if bundle.result.is_file() else None
        results.append(write_grade(bundle, evidence, digest))
        if before is not None and before != bundle.result.read_bytes():
            changed.append(str(bundle.result))
    report = build_report(run_dir, results)
    write_reports(report, run_dir.path)
    return Regraded(report=report, changed=tuple(changed))
