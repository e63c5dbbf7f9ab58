"""A spec file as pytest collects it, and each of its cases as an item.

Judges one case when pytest says so; refuses to know which cluster it is, or how it came to be.
Called by pytest, through `spec_session`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from harness.errors import HarnessError
from harness.model.spec import Case, CaseResult, Cause, Verdict, When
from harness.pytest_plugin.telling import told_plainly
from harness.pytest_plugin.wording import NOT_RUNNABLE, error_text, failure_text
from harness.specs.engine import judge
from harness.specs.loader import LoadedSpec
from harness.specs.probe import Probe
from harness.specs.running import due, new_marker

#: Names of what an item tells in its reports; JUnit files carry them too.
SPEC_PROPERTY = "strandline_spec"
VERDICT_PROPERTY = "strandline_verdict"

#: Times of a run, the first that a case names first: an item is judged once.
_TIMES: tuple[When, ...] = ("swept", "ready", "after")

_OF_AN_ATTEMPT = "it is judged in an attempt's own namespace alone"


class Ground(Protocol):
    """Where items are judged: made before the first of them."""

    def load(self, folder: Path) -> LoadedSpec:
        """Return the spec of a folder; an error of ours when it is wrong."""
        ...

    def probe(self) -> Probe:
        """Return where cases are probed; an error of ours when there is no such place."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DueCase:
    """A case that pytest judges.

    Attributes:
        case: It requires what its spec requires.
        when: Which of its times it is judged as; None when it has none outside of an attempt.
    """

    loaded: LoadedSpec
    case: Case
    when: When | None

    @property
    def line(self) -> int:
        """Its line in its file, counted from 1."""
        return self.loaded.lines.get(self.case.name, 1)

    def why_not(self, capabilities: frozenset[str]) -> str | None:
        """Return why a cluster with these capabilities cannot judge it; None when it can. Pure."""
        if self.when is None:
            return _OF_AN_ATTEMPT
        missing = sorted(set(self.case.requires) - capabilities)
        return f"the cluster lacks {', '.join(missing)}" if missing else None


def due_cases(loaded: LoadedSpec) -> tuple[DueCase, ...]:
    """Return every case of a spec, in its order, each once. Pure."""
    timed: dict[str, tuple[When, Case]] = {}
    for when in _TIMES:
        for _, case in due([loaded], when, "canary"):
            timed.setdefault(case.name, (when, case))
    return tuple(
        DueCase(loaded=loaded, case=timed[own.name][1], when=timed[own.name][0])
        if own.name in timed
        else DueCase(loaded=loaded, case=own, when=None)
        for own in loaded.spec.spec.cases
    )


class SpecFile(pytest.File):
    """One spec.yaml."""

    ground: Ground

    @classmethod
    def of(cls, parent: pytest.Collector, path: Path, ground: Ground) -> SpecFile:
        """Return the file as a collector."""
        made: SpecFile = cls.from_parent(parent, path=path)
        made.ground = ground
        return made

    def collect(self) -> Iterator[SpecItem]:
        """Yield an item a case.

        Raises:
            CollectError: The spec is wrong: one line with file, line and key, and a hint.
        """
        try:
            loaded = self.ground.load(self.path.parent)
        except HarnessError as error:
            raise self.CollectError(error_text(error)) from error
        for case in due_cases(loaded):
            yield SpecItem.from_parent(self, name=case.case.name, due=case, ground=self.ground)


class SpecItem(pytest.Item):
    """One case: passed when it held, and only then."""

    def __init__(self, *, due: DueCase, ground: Ground, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.due = due
        self._ground = ground
        self.user_properties.append((SPEC_PROPERTY, due.loaded.name))

    def skip_unless_runnable(self) -> None:
        """Mark it to be skipped, with the reason, where the cluster cannot judge it."""
        try:
            reason = self.due.why_not(self._capabilities())
        except HarnessError:
            return  # told by `setup`
        if reason is not None:
            self.user_properties.append((VERDICT_PROPERTY, NOT_RUNNABLE))
            self.add_marker(pytest.mark.skip(reason=f"not runnable: {reason}"))

    def _capabilities(self) -> frozenset[str]:
        """Return what the cluster can do; a case that none can judge needs no cluster."""
        return self._ground.probe().capabilities if self.due.when else frozenset()

    def setup(self) -> None:
        """Make sure that there is a cluster; without one the item is an error."""
        with told_plainly():
            self._ground.probe()

    def runtest(self) -> None:
        """Judge the case. What is not known never passes."""
        due = self.due
        if due.when is None:
            pytest.skip(_OF_AN_ATTEMPT)
        probe = self._ground.probe().of_spec(due.loaded.spec.spec)
        result = judge(due.loaded.name, due.case, probe, when=due.when, marker=new_marker())
        self._tell(result)
        if result.cause is Cause.NOT_RUNNABLE:
            pytest.skip(result.detail)
        if result.verdict is not Verdict.HELD:
            where = f"{self.nodeid.partition('::')[0]}:{due.line}"
            pytest.fail(failure_text(due.case, result, where), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return file, line counted from 0, and what a report calls it."""
        return self.path, self.due.line - 1, f"{self.due.loaded.name}: {self.name}"

    def _tell(self, result: CaseResult) -> None:
        runnable = result.cause is not Cause.NOT_RUNNABLE
        verdict = str(result.verdict) if runnable else NOT_RUNNABLE
        self.user_properties.append((VERDICT_PROPERTY, verdict))
