"""The report as Markdown: short enough for the summary of a build.

It owns the Markdown; the words are lines.py's. The command line calls it.
"""

from __future__ import annotations

from harness.model.results import RunReport
from harness.report.inert import inert_markdown
from harness.report.lines import HEADINGS, problem_lines, rows, score_lines, title

#: Problems shown; a build's summary holds 1 MiB at most, and nobody reads on.
#: Source: GitHub Actions, workflow commands, job summaries.
_PROBLEMS_SHOWN = 50


def markdown(report: RunReport) -> str:
    """Return a heading, a table, the scores and what kept attempts from passing. Pure."""
    problems = problem_lines(report)
    shown = [f"- {inert_markdown(line)}" for line in problems[:_PROBLEMS_SHOWN]]
    if len(problems) > _PROBLEMS_SHOWN:
        shown.append(f"- {len(problems) - _PROBLEMS_SHOWN} more in report.json")
    lines = [
        f"## {inert_markdown(title(report))}",
        "",
        _line(HEADINGS),
        _line(("---", "---", "---:", "---:", "---:", "---:", "---")),
        *(_line(tuple(inert_markdown(cell) for cell in row.cells)) for row in rows(report)),
        "",
        *(f"- {inert_markdown(line)}" for line in score_lines(report)),
        *(["", "### What did not hold", "", *shown] if shown else []),
    ]
    return "\n".join(lines) + "\n"


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
