"""The result file of a run: what was measured, with what, on what, and every value behind it.

Owns its keys and where it goes; refuses to measure. Called by `python -m benchmarks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Part, to_json
from benchmarks.table import missed
from harness.core.files import write_json

#: Where whole runs are kept.
RESULTS_DIR = Path(__file__).with_name("results")

#: Raised when a key is renamed or means something else.
_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the benchmark.

    Attributes:
        began_at: When it began, in UTC.
        duration_s: How long it took.
        repeats: How often each side of a comparison was measured.
        machine: From `describe_machine`.
        versions: From `read_versions`.
        parts: Name to what it found, in order.
        failed: Name to why it found nothing.
    """

    began_at: datetime
    duration_s: float
    repeats: int
    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    parts: Mapping[str, Part]
    failed: Mapping[str, str]

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of all parts, in order."""
        return tuple(figure for part in self.parts.values() for figure in part.figures)

    @property
    def ok(self) -> bool:
        """Whether no part failed and every goal is met."""
        return not self.failed and not missed(self.figures)

    def to_json(self) -> dict[str, Any]:
        """Return it for a machine."""
        return {
            "format": _FORMAT,
            "began_at": self.began_at.isoformat(timespec="seconds"),
            "duration_s": round(self.duration_s, 1),
            "repeats": self.repeats,
            "machine": dict(self.machine),
            "versions": dict(self.versions),
            "figures": [to_json(figure) for figure in self.figures],
            "missed": [f"{figure.part}: {figure.name}" for figure in missed(self.figures)],
            "failed": dict(self.failed),
            "detail": {name: dict(part.detail) for name, part in self.parts.items() if part.detail},
        }


def write_results(run: Run, folder: Path) -> Sequence[Path]:
    """Write a run as the latest one and as the one of its day; return both paths."""
    paths = (folder / "latest.json", folder / f"{run.began_at:%Y-%m-%d}.json")
    for path in paths:
        write_json(path, run.to_json())
    return paths
