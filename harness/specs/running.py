"""Runs every case that is due in one place, several at once, each with names of its own."""

from __future__ import annotations

import math
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from harness.model.spec import Case, CaseResult, When, Where
from harness.specs.engine import judge
from harness.specs.guards import guard_of
from harness.specs.loader import LoadedSpec
from harness.specs.probe import Probe

#: Cases at once. An API server answers one in 3 to 5 ms, most of it its own work; for eight clients
#: it made 404 objects a second on two cores, so 56 cases take well under a second.
THREADS = 8


def new_marker() -> str:
    """Return a marker that no earlier probe had."""
    return secrets.token_hex(3)


def due(specs: Iterable[LoadedSpec], when: When, where: Where) -> Iterator[tuple[LoadedSpec, Case]]:
    """Yield the cases that are due, each requiring what its spec requires. Pure."""
    for loaded in specs:
        body = loaded.spec.spec
        for case in body.cases:
            if when in case.when and where in case.where:
                needs = tuple(dict.fromkeys((*body.requires, *case.requires)))
                yield loaded, case.model_copy(update={"requires": needs})


def run_specs(
    specs: Iterable[LoadedSpec],
    when: When,
    probe: Probe,
    *,
    where: Where = "canary",
    marker: str | None = None,
    probes: int = 1,
) -> tuple[CaseResult, ...]:
    """Run every due case once and return what each showed, in the order of the specs.

    Args:
        specs: Loaded specs.
        when: Which time it is.
        probe: Where.
        where: Which kind of namespace that is.
        marker: None draws a new one.
        probes: Requests that each guard gets at least which may come and go; where it has fewer
            cases, theirs are made several times.
    """
    cases = tuple(due(specs, when, where))
    times = shares([guard_of(loaded.name, case) for loaded, case in cases], probes)
    own = marker or new_marker()

    def run(number: int) -> CaseResult:
        loaded, case = cases[number]
        return judge(
            loaded.name,
            case,
            probe.of_spec(loaded.spec.spec),
            when=when,
            marker=f"{own}{number:02d}",  # cases of two specs may make the same name at once
            probes=times[number],
        )

    with ThreadPoolExecutor(max_workers=THREADS) as pool:
        return tuple(pool.map(run, range(len(cases))))


def shares(guards: Sequence[str], probes: int) -> tuple[int, ...]:
    """Return how often each case is probed, so that every guard is `probes` times at least. Pure.

    Args:
        guards: The guard of each case; empty for a case that once is enough for.
        probes: Wanted for each guard.
    """
    cases = Counter(guards)
    return tuple(max(1, math.ceil(probes / cases[guard])) if guard else 1 for guard in guards)
