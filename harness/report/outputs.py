"""The files that a finished run leaves for machines: report.json and junit.xml.

It owns their names and that each is whole or absent. bench calls it at the end of a run, and the
command line when a run is graded again.
"""

from __future__ import annotations

from pathlib import Path

from harness.core.files import write_atomic, write_json
from harness.model.results import RunReport, to_json
from harness.report.junit import junit_xml

REPORT_NAME = "report.json"
JUNIT_NAME = "junit.xml"


def write_reports(report: RunReport, run_dir: Path) -> None:
    """Write report.json and junit.xml into a run's folder. Idempotent."""
    write_json(run_dir / REPORT_NAME, to_json(report))
    write_atomic(run_dir / JUNIT_NAME, junit_xml(report))
