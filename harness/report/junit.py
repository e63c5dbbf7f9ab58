"""The report as JUnit XML: one suite a category, one case an attempt, or a task not runnable.

It owns which status is a failure and which an error: what counts against the agent fails, what has
a cause outside of it is an error. Whoever writes a run's folder calls it.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from harness.model.evidence import COUNTED, Status
from harness.model.results import ReportedAttempt, RunReport, TaskScore
from harness.report.inert import inert
from harness.report.lines import act_seconds, attempt_problems, categories, title


def junit_xml(report: RunReport) -> bytes:
    """Return JUnit XML that is well-formed whatever an agent wrote. Pure."""
    root = Element("testsuites", name=title(report))
    attempts: list[ReportedAttempt] = []
    skipped = 0
    for category in categories(report):
        tasks = [task for task in report.tasks if task.category == category]
        inside = [attempt for task in tasks for attempt in task.attempts]
        left_out = [task for task in tasks if task.not_runnable is not None]
        counts = _counts(inside, skipped=len(left_out))
        suite = SubElement(root, "testsuite", {"name": inert(category), **counts})
        for task in left_out:
            _add_left_out(suite, report, task)
        skipped += len(left_out)
        for task in tasks:
            for attempt in task.attempts:
                _add_case(suite, report, task, attempt)
        attempts += inside
    for key, value in _counts(attempts, skipped=skipped).items():
        root.set(key, value)
    indent(root)
    found: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return found + b"\n"


def _counts(attempts: Iterable[ReportedAttempt], *, skipped: int) -> dict[str, str]:
    listed = list(attempts)
    errors = sum(attempt.status not in COUNTED for attempt in listed)
    passed = sum(attempt.status is Status.PASSED for attempt in listed)
    seconds = sum(act_seconds(attempt) or 0.0 for attempt in listed)
    return {
        "tests": str(len(listed) + skipped),
        "failures": str(len(listed) - errors - passed),
        "errors": str(errors),
        "skipped": str(skipped),
        "time": f"{seconds:.3f}",
    }


def _add_left_out(suite: Element, report: RunReport, task: TaskScore) -> None:
    name = inert(f"{report.suite.name}.{task.category}")
    case = SubElement(suite, "testcase", classname=name, name=inert(task.id), time="0.000")
    SubElement(case, "skipped", message=inert(task.not_runnable or ""))


def _add_case(suite: Element, report: RunReport, task: TaskScore, attempt: ReportedAttempt) -> None:
    case = SubElement(
        suite,
        "testcase",
        classname=inert(f"{report.suite.name}.{task.category}"),
        name=inert(f"{task.id}#{attempt.number}"),
        time=f"{act_seconds(attempt) or 0.0:.3f}",
    )
    problems = list(attempt_problems(attempt))
    if attempt.status is Status.PASSED:
        if problems:
            SubElement(case, "system-out").text = "\n".join(problems)
        return
    tag = "failure" if attempt.status in COUNTED else "error"
    message = inert(attempt.error) if attempt.error else f"score {attempt.score:.3f}"
    found = SubElement(case, tag, type=attempt.status.value, message=message)
    found.text = "\n".join(problems)
