"""The folder of a run: what was started, what happened, and one bundle an attempt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.core.files import append_line, read_json, write_json
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptDir:
    """The bundle of one attempt."""

    path: Path

    @property
    def name(self) -> str:
        """Its folder below attempts/; a number is below that."""
        return self.path.parent.name

    @property
    def evidence(self) -> Path:
        """What grading reads."""
        return self.path / "evidence"

    @property
    def agent(self) -> Path:
        """What the agent was told, said and spent."""
        return self.path / "agent"

    @property
    def result(self) -> Path:
        """What grading wrote."""
        return self.path / "result.json"

    def file(self, name: str) -> Path:
        """Return another file of the bundle."""
        return self.path / name


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDir:
    """runs/RUN."""

    path: Path

    @property
    def run_file(self) -> Path:
        """Versions, digests, seed, agent, cluster."""
        return self.path / "run.json"

    @property
    def report_file(self) -> Path:
        """The report, for machines."""
        return self.path / "report.json"

    def attempt(self, task_id: str, number: int) -> AttemptDir:
        """Return the bundle of an attempt; it need not be there."""
        return AttemptDir(path=self.path / "attempts" / task_id / str(number))

    def attempts(self) -> tuple[AttemptDir, ...]:
        """Return every bundle that is there, sorted by task and number."""
        found = (self.path / "attempts").glob("*/*/evidence")
        paths = sorted(
            (path.parent for path in found if path.parent.name.isdecimal()),
            key=lambda path: (path.parent.name, int(path.name)),
        )
        return tuple(AttemptDir(path=path) for path in paths)


class RunJournal:
    """journal.jsonl: what began and what ended, on the disk before the next thing happens."""

    def __init__(self, path: Path, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self.path, self._clock = path, clock

    def write(self, event: str, **facts: Any) -> None:
        """Append one event with its time."""
        line = {"at": self._clock.now().isoformat(timespec="milliseconds"), "event": event}
        append_line(self.path, {**line, **facts})


def create_run_dir(runs_dir: Path, run_id: str, facts: dict[str, Any]) -> RunDir:
    """Make the folder of a new run."""
    run_dir = RunDir(path=(runs_dir / run_id).absolute())
    run_dir.path.mkdir(parents=True)
    write_json(run_dir.run_file, facts)
    return run_dir


def open_run_dir(path: Path) -> RunDir:
    """Return the folder of a run that is there.

    Raises:
        ConfigError: It is none.
    """
    run_dir = RunDir(path=path.absolute())
    if not run_dir.run_file.is_file():
        msg = f"{path}: no run.json, expected the folder of a run"
        raise ConfigError(msg, hint="give a folder below runs/")
    facts = read_json(run_dir.run_file)
    keys = facts.keys() if isinstance(facts, dict) else set()
    if missing := sorted({"suite", "specs"} - keys):
        msg = f"{run_dir.run_file}: no {' and no '.join(missing)}, expected a finished run"
        raise ConfigError(msg, hint="give a run that came to its end; a validation is none")
    return run_dir
