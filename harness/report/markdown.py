"""The report as Markdown, for the summary page of a continuous integration job.

It owns the markup; the words are lines.py's. What an agent wrote is neither markup nor a link. The
command line calls it.
"""

from __future__ import annotations

import re

from harness.model.results import RunReport
from harness.report.lines import (
    HEADINGS,
    environment_lines,
    problem_lines,
    rows,
    score_lines,
    title,
    truth_lines,
)

#: Punctuation with a meaning in GitHub Flavored Markdown, a link without brackets included.
#: A full stop has one after `www` and after the number of a list; between digits it has none.
#: Source: GFM specification 0.29, sections 6.1 (backslash escapes) and 6.9 (autolinks).
_MEANINGFUL = re.compile(r"([\\`*_{}\[\]()<>#+!|~:&$/]|(?<!\d)\.|\.(?!\d))")

#: Stands after `@`, unseen (U+2060, word joiner): mentions and addresses are looked for in the text
#: that is already rendered, where a backslash is gone.
_NO_MENTION = "@\u2060"

#: Alignment of the columns: words to the left, numbers to the right.
_RULES = (":--", ":--", "--:", "--:", "--:", "--:", ":--")


def markdown(report: RunReport) -> str:
    """Return a heading, a table of tasks, and what else there is to say. Pure."""
    problems = (*problem_lines(report), *truth_lines(report))
    return "\n".join(
        [
            f"### {escaped(title(report))}",
            "",
            _line(HEADINGS),
            _line(_RULES),
            *(_line([escaped(cell) for cell in row.cells]) for row in rows(report)),
            "",
            *(f"- {escaped(line)}" for line in (*score_lines(report), *environment_lines(report))),
            *(["", *_fenced(problems)] if problems else []),
            "",
        ]
    )


def escaped(text: str) -> str:
    """Return a text of one line that shows as it is. Pure."""
    return _MEANINGFUL.sub(r"\\\1", text).replace("@", _NO_MENTION)


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _fenced(lines: tuple[str, ...]) -> list[str]:
    """Return a block in which nothing is markup: its fence is longer than any inside. Pure."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *lines, fence]
