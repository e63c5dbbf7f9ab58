"""The report on a console, as JUnit XML, as Markdown and as JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.model.evidence import Status
from harness.model.results import RunReport, to_json
from harness.report.junit import junit_xml
from harness.report.outputs import write_reports
from harness.report.schema import SCHEMA_PATH, report_schema, schema_bytes
from harness.report.terminal import plain_lines, print_report
from tests.unit.report.fixtures import attempt, hostile_report, outcome, report, task

ROOT = Path(__file__).parents[3]

MIXED = report(
    task("mix-and-measure", attempt(), attempt(Status.FAILED, 2, checks=(outcome(),)), rate=0.5),
    task("settle", attempt(Status.INFRA_ERROR, error="ready: no endpoints"), category="recover"),
)


def printed(found: RunReport, *, terminal: bool) -> str:
    """Return what a console of 120 columns shows."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        force_terminal=terminal,
        width=120,
        color_system="standard" if terminal else None,
        _environ={},
    )
    print_report(found, console)
    return stream.getvalue()


def test_a_pipe_gets_plain_aligned_lines() -> None:
    found = printed(MIXED, terminal=False)

    assert found.splitlines()[:5] == [
        "lab-operation v1.0 · reference · index 0.667",
        "Task             Category  pass@1  Score  Seconds  Overhead  Status",
        "mix-and-measure  operate    0.500  0.500      4.2       1.5  1 passed, 1 failed",
        "settle           recover    1.000  1.000      4.2       1.5  infra_error",
        (
            "mix-and-measure#2  runs_completed: one run was completed: "
            "found no completed runs of the agent's, needed at least 1"
        ),
    ]
    assert found.isascii() or found.count("·") == 2


def test_a_long_line_in_a_pipe_is_not_wrapped() -> None:
    long = report(task("x" * 200, attempt()))

    assert printed(long, terminal=False).splitlines() == list(plain_lines(long))


def test_a_terminal_gets_a_table_with_colour() -> None:
    found = printed(MIXED, terminal=True)

    assert found.splitlines()[1].startswith("┏")
    assert "\x1b[" in found


def test_a_hostile_text_neither_acts_nor_vanishes_on_a_terminal() -> None:
    found = printed(hostile_report(), terminal=True)

    assert "\x1b[31mred" not in found
    assert "\\x1b[31mred\\x07\\x00\\u202e\\ud800\\ufffe[bold]b[/bold]" in found
    assert "\x07" not in found


def test_junit_has_a_suite_a_category_and_a_case_an_attempt() -> None:
    root = ET.fromstring(junit_xml(MIXED))  # noqa: S314 - our own XML

    suites = [(item.get("name"), item.get("tests")) for item in root]
    cases = [
        (case.get("classname"), case.get("name"), [child.tag for child in case])
        for case in root.iter("testcase")
    ]

    assert suites == [("operate", "2"), ("recover", "1")]
    assert cases == [
        ("lab-operation.operate", "mix-and-measure#1", []),
        ("lab-operation.operate", "mix-and-measure#2", ["failure"]),
        ("lab-operation.recover", "settle#1", ["error"]),
    ]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")


def test_junit_counts_the_seconds_that_the_agent_acted_and_no_others() -> None:
    never = attempt(Status.INFRA_ERROR, 2, seconds={"provision": 9.0})
    root = ET.fromstring(junit_xml(report(task("mix", attempt(), never))))  # noqa: S314 - our own XML

    cases = [case.get("time") for case in root.iter("testcase")]

    assert cases == ["4.200", "0.000"]
    assert (root[0].get("time"), root.get("time")) == ("4.200", "4.200")


def test_junit_lists_the_failed_checks() -> None:
    root = ET.fromstring(junit_xml(MIXED))  # noqa: S314 - our own XML

    (failure,) = root.iter("failure")

    assert failure.get("type") == "failed"
    assert failure.text == (
        "runs_completed: one run was completed: "
        "found no completed runs of the agent's, needed at least 1"
    )


def test_junit_of_a_hostile_report_is_well_formed() -> None:
    root = ET.fromstring(junit_xml(hostile_report()))  # noqa: S314 - our own XML

    (failure,) = root.iter("failure")
    assert "<b>&amp;</b>" in str(failure.text)


@given(text=st.text(st.characters(), max_size=200))
def test_junit_is_well_formed_for_any_text(text: str) -> None:
    failed = attempt(Status.FAILED, checks=(outcome(detail=text),))

    root = ET.fromstring(junit_xml(report(task("mix", failed))))  # noqa: S314 - our own XML

    assert len(list(root.iter("failure"))) == 1


def test_the_files_of_a_run_hold_the_report(tmp_path: Path) -> None:
    write_reports(MIXED, tmp_path)

    assert RunReport.model_validate(json.loads((tmp_path / "report.json").read_bytes())) == MIXED
    assert (tmp_path / "junit.xml").read_bytes() == junit_xml(MIXED)


def test_writing_the_same_report_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    write_reports(MIXED, tmp_path)
    first = [path.read_bytes() for path in sorted(tmp_path.iterdir())]

    write_reports(MIXED, tmp_path)

    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == first


def test_the_published_schema_is_what_the_model_gives() -> None:
    assert (ROOT / SCHEMA_PATH).read_bytes() == schema_bytes()


def test_the_schema_names_every_key_of_a_report() -> None:
    assert report_schema()["required"]
    assert set(report_schema()["properties"]) == set(to_json(MIXED))
