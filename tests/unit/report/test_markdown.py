"""The report as Markdown: a table that shows, and foreign text that does nothing."""

from __future__ import annotations

import re

from harness.model.evidence import Status
from harness.report.markdown import escaped, markdown
from tests.unit.report.fixtures import attempt, hostile_report, outcome, report, task


def test_a_summary_has_a_heading_a_table_the_scores_and_what_failed() -> None:
    found = report(
        task("mix", attempt()),
        task("settle", attempt(Status.FAILED, checks=(outcome(),)), category="recover", rate=0.0),
    )

    assert markdown(found).splitlines() == [
        "### lab-operation v1.0 · reference · index 0.667",
        "",
        "| Task | Category | pass@1 | Score | Seconds | Overhead | Status |",
        "| :-- | :-- | --: | --: | --: | --: | :-- |",
        "| mix | operate | 1.000 | 1.000 | 4.2 | 1.5 | passed |",
        "| settle | recover | 0.000 | 0.000 | 4.2 | 1.5 | failed |",
        "",
        r"- operate\: 1.000 \[0.21, 1.00\] over 1 task",
        r"- recover\: 1.000 \[0.21, 1.00\] over 1 task",
        r"- index\: 0.667",
        r"- specs\: 12 held, 0 broken, 0 unknown",
        "",
        "```text",
        (
            "settle#1  runs_completed: one run was completed: "
            "found no completed runs of the agent's, needed at least 1"
        ),
        "```",
    ]


def test_a_summary_of_what_passed_has_no_block_of_problems() -> None:
    assert "```" not in markdown(report(task("mix", attempt())))


def test_foreign_text_is_neither_markup_nor_a_link_nor_another_cell() -> None:
    found = markdown(hostile_report())
    outside = found[: found.index("```")]

    assert re.search(r"(?<!\\)[<\[`!]", outside) is None
    assert "http://" not in outside
    cells = [line for line in outside.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in cells} == {8}


def test_an_address_a_host_and_a_name_become_no_link() -> None:
    assert escaped("www.a.example, b@c.example") == ("www\\.a\\.example, b@\u2060c\\.example")


def test_the_point_of_a_number_stays_and_that_of_a_list_does_not() -> None:
    assert escaped("1. 0.667") == "1\\. 0.667"


def test_a_fence_in_foreign_text_does_not_end_the_block() -> None:
    broken = attempt(Status.AGENT_ERROR, error="```` <b>")

    lines = markdown(report(task("mix", broken))).splitlines()

    assert lines[-3:] == ["`````text", "mix#1  agent_error: ```` <b>", "`````"]


def test_a_backslash_of_foreign_text_escapes_nothing_of_ours() -> None:
    assert escaped("\\|") == "\\\\\\|"
