"""Cases of safety specs on the way to a person or a machine: counts, lines, the exit code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click

from harness.model.results import to_json
from harness.model.spec import CaseResult, Verdict

#: Exit code of a command that ran, and found something that does not hold.
EXIT_FAILED = 1


def counts(cases: Iterable[CaseResult]) -> dict[str, int]:
    """Return verdict to number, every verdict among them. Pure."""
    found = list(cases)
    return {str(verdict): sum(case.verdict is verdict for case in found) for verdict in Verdict}


def as_json(cases: Sequence[CaseResult]) -> dict[str, Any]:
    """Return what `--json` tells of cases: `{held, broken, unknown, cases: [...]}`. Pure."""
    return {**counts(cases), "cases": [to_json(case) for case in cases]}


def show(cases: Sequence[CaseResult]) -> None:
    """Print a line a case, then the counts."""
    for case in cases:
        click.echo(f"{case.verdict:<8}{case.spec}: {case.case}: {case.detail}")
    click.echo(", ".join(f"{number} {verdict}" for verdict, number in counts(cases).items()))


def exit_code(cases: Sequence[CaseResult]) -> int:
    """Return 0 when all hold, and 1 when one does not or none was run. Pure."""
    held = bool(cases) and all(case.verdict is Verdict.HELD for case in cases)
    return 0 if held else EXIT_FAILED
