"""Run the cases of the checks on a grader that is wrong by one step, in this process.

The mutated module and all that stand on it are executed anew in the place of the real ones, which
come back afterwards whatever happened.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import harness.grading
from harness.errors import ConfigError
from tests.mutants.mutations import Mutant, mutants
from tests.unit.grading.case import Case
from tests.unit.grading.cases_scoring import all_as_they_must

_PACKAGE = "harness.grading"
FOLDER = Path(harness.grading.__file__).parent

#: Modules that decide, each after those that it imports.
ORDER = (
    "finding",
    "objects",
    "asking",
    "calls",
    "stranded",
    "ownership",
    "reads",
    "view",
    "work",
    "settling",
    "evidence_seen",
    "restraint",
    "approving",
    "requesting",
    "checks",
    "scoring",
)

#: How a grader that is wrong may end; whoever runs it sees that it does.
_BROKEN = (
    ArithmeticError,
    AttributeError,
    ConfigError,
    LookupError,
    NameError,
    RecursionError,
    TypeError,
    ValueError,
)

#: Modules that are mutated: what decides, and what says whose doing it was. `reads` has a room of
#: its own in tests/unit, and `objects` and `checks` decide nothing.
MUTATED = tuple(name for name in ORDER if name not in {"objects", "checks", "reads"})


def all_mutants() -> Iterator[Mutant]:
    """Yield every mutant of every module that decides."""
    for name in MUTATED:
        yield from mutants(name, _source(name))


def survivors(cases: Sequence[Case], found: Sequence[Mutant]) -> list[Mutant]:
    """Return those mutants that give every case what the real grader gives it."""
    seen = _seen_by_checks(cases)
    return [mutant for mutant in found if not _is_killed(mutant, cases, seen)]


def _scores_otherwise() -> bool:
    try:
        return not all_as_they_must(sys.modules[f"{_PACKAGE}.scoring"].grade)
    except _BROKEN:
        return True


def _seen_by_checks(cases: Sequence[Case]) -> list[Any]:
    view_of = import_module(f"{_PACKAGE}.view").view_of
    return [view_of(case.evidence) for case in cases]


def _is_killed(mutant: Mutant, cases: Sequence[Case], views: Sequence[Any]) -> bool:
    with _in_place(mutant) as (judge, view_of):
        if mutant.module == "scoring":
            return bool(cases) and _scores_otherwise()
        for case, view in zip(cases, views, strict=True):
            try:
                found = judge(case.check, view if view_of is None else view_of(case.evidence))
            except _BROKEN:
                return True
            if found.passed is not case.holds or case.detail not in (None, found.detail):
                return True
    return False


@contextmanager
def _in_place(
    mutant: Mutant,
) -> Iterator[tuple[Callable[..., Any], Callable[..., Any] | None]]:
    """Give the judge of a mutant, and its view where that is another one too."""
    stale = _standing_on(mutant.module)
    real = {name: sys.modules[f"{_PACKAGE}.{name}"] for name in stale}
    try:
        for name in stale:
            module = ModuleType(f"{_PACKAGE}.{name}")
            module.__file__ = real[name].__file__
            sys.modules[f"{_PACKAGE}.{name}"] = module
            exec(mutant.code if name == mutant.module else _code(name), module.__dict__)  # noqa: S102 - our own code, wrong by one step
        judge = sys.modules[f"{_PACKAGE}.checks"].judge
        yield judge, sys.modules[f"{_PACKAGE}.view"].view_of if "view" in stale else None
    finally:
        for name, module in real.items():
            sys.modules[f"{_PACKAGE}.{name}"] = module


@cache
def _standing_on(changed: str) -> tuple[str, ...]:
    """Return a module and all that import it, however indirectly, in order."""
    stale = {changed}
    for name in ORDER:
        if any(f"{_PACKAGE}.{other} " in _source(name) for other in stale):
            stale.add(name)
    return tuple(name for name in ORDER if name in stale)


@cache
def _source(name: str) -> str:
    import_module(f"{_PACKAGE}.{name}")
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


@cache
def _code(name: str) -> CodeType:
    return compile(_source(name), name, "exec")
