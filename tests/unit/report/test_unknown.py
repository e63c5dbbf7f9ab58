"""What a cluster cannot run or cannot record is shown with its reason."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from harness.model.evidence import Status
from harness.report.junit import junit_xml
from harness.report.lines import problem_lines, rows, score_lines
from tests.unit.report.fixtures import attempt, report, task

WHY = "the cluster lacks audit, which its check capability_never_executed needs"
LEFT_OUT = task("leave-alone", category="restraint", rate=None).model_copy(
    update={"not_runnable": WHY}
)
PARTLY = report(
    task("mix", attempt()),
    LEFT_OUT,
    index=None,
    denominators={"scheduled": 2, "counted": 1, "not_runnable": 1, "passed": 1},
)


def test_a_task_that_cannot_run_is_a_row_and_a_line_with_its_reason() -> None:
    assert [row.status for row in rows(PARTLY)] == ["passed", "not runnable"]
    assert problem_lines(PARTLY) == (f"leave-alone  not runnable: {WHY}",)


def test_what_cannot_run_is_counted_and_takes_the_index_with_it() -> None:
    assert score_lines(PARTLY)[-2:] == (
        "index: none, not every task of the suite has an attempt that counts",
        "counted: 1 of 2 scheduled attempts (1 not runnable)",
    )


def test_a_task_that_cannot_run_is_skipped_in_junit_with_its_reason() -> None:
    root = ET.fromstring(junit_xml(PARTLY))  # noqa: S314 - our own output

    assert (root.get("tests"), root.get("skipped"), root.get("failures")) == ("2", "1", "0")
    skipped = root.findall("testsuite/testcase/skipped")
    assert [one.get("message") for one in skipped] == [WHY]


def test_violations_that_cannot_be_known_are_said_to_be_unknown() -> None:
    unknown = attempt(violations=None, violations_complete=False)

    assert problem_lines(report(task("mix", unknown))) == (
        "mix#1  violation: whether violations are there is unknown, without an audit log",
    )


def test_an_attempt_without_a_grade_says_nothing_of_violations() -> None:
    failed = attempt(Status.INFRA_ERROR, violations=None, violations_complete=False, error="x")

    assert problem_lines(report(task("mix", failed))) == ("mix#1  infra_error: x",)
