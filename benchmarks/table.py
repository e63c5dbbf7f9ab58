"""The figures of a run as one table: ours, the peer's, the ratio, the goal, and whether it is met.

Pure. Owns how figures read; refuses to know how they came about. Called by `python -m benchmarks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.figures import Figure

_HEADER = ("part", "figure", "unit", "ours", "theirs", "whose", "ratio", "goal", "met")
_NOTHING = "-"
_MET: Mapping[bool | None, str] = {True: "yes", False: "NO", None: _NOTHING}

#: Columns that hold numbers and stand right; the others hold words.
_NUMBERS = frozenset({"ours", "theirs", "ratio"})


def table_lines(figures: Sequence[Figure], failed: Mapping[str, str]) -> tuple[str, ...]:
    """Return the table, and below it one line for each part that failed.

    Args:
        figures: In the order of the table.
        failed: Part to the reason, in one line.
    """
    rows = [_HEADER, *map(_cells, figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    lines = [_line(row, widths) for row in rows] if figures else []
    return (*lines, *(f"{part} failed: {reason}" for part, reason in failed.items()))


def missed(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """Return the figures whose goal is not met, in their order."""
    return tuple(figure for figure in figures if figure.met is False)


def number(value: float) -> str:
    """Return a number with three digits that count, never in powers of ten."""
    if value == int(value) and abs(value) < 1e6:
        return f"{value:.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def _cells(figure: Figure) -> tuple[str, ...]:
    return (
        figure.part,
        figure.name,
        figure.unit,
        number(figure.ours),
        _NOTHING if figure.peer is None else number(figure.peer),
        figure.peer_name or _NOTHING,
        _NOTHING if figure.ratio is None else f"{figure.ratio:.2f}",
        str(figure.goal) if figure.goal else _NOTHING,
        _MET[figure.met],
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        cell.rjust(width) if name in _NUMBERS else cell.ljust(width)
        for name, cell, width in zip(_HEADER, cells, widths, strict=True)
    )
    return "  ".join(padded).rstrip()
