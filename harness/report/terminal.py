"""The report on a console: a table with colour on a terminal, plain aligned lines in a pipe.

It owns layout and colour; the words are lines.py's. The command line calls it.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.model.results import RunReport
from harness.report.lines import (
    HEADINGS,
    NOTHING,
    Row,
    environment_lines,
    number,
    problem_lines,
    rows,
    score_lines,
    title,
    truth_lines,
)

#: Columns of numbers, counted from 0; they are aligned at their ends.
_NUMBERS = frozenset({2, 3, 4, 5})


def print_report(report: RunReport, console: Console) -> None:
    """Print a run's report. What an agent wrote is never taken as markup."""
    if console.is_terminal:
        _print_table(report, console)
    else:
        for line in plain_lines(report):
            _print(console, line)


def plain_lines(report: RunReport) -> tuple[str, ...]:
    """Return the report as lines without markup, columns aligned by blanks. Pure."""
    table = (HEADINGS, *(row.cells for row in rows(report)))
    widths = [max(len(line[column]) for line in table) for column in range(len(HEADINGS))]
    return (
        title(report),
        *("  ".join(_aligned(line, widths)).rstrip() for line in table),
        *problem_lines(report),
        *truth_lines(report),
        *score_lines(report),
        *environment_lines(report),
    )


def _aligned(cells: tuple[str, ...], widths: list[int]) -> list[str]:
    return [
        cell.rjust(width) if column in _NUMBERS else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]


def _print_table(report: RunReport, console: Console) -> None:
    table = Table(title=Text(title(report)), title_justify="left", title_style="bold")
    for column, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if column in _NUMBERS else "left")
    for row in rows(report):
        style = _style(row)
        *cells, status = (Text(cell) for cell in row.cells)
        status.stylize(style)
        table.add_row(*cells, status)
    console.print(table)
    for line in problem_lines(report):
        _print(console, line, "red")
    for line in truth_lines(report):
        _print(console, line, "dim")
    for line in score_lines(report):
        _print(console, line, "bold" if line.startswith("index") else "")
    for line in environment_lines(report):
        _print(console, line, "yellow" if line.startswith("left behind") else "dim")


def _style(row: Row) -> str:
    styles = {NOTHING: "yellow", number(1.0): "green"}
    return styles.get(row.pass_at_1, "red")


def _print(console: Console, line: str, style: str = "") -> None:
    console.print(Text(line, style=style), soft_wrap=True, highlight=False, emoji=False)
