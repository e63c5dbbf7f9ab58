"""Runs every case that is due in one place, several at once, each with names of its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from harness.model.spec import Case, CaseResult, When, Where
from harness.specs.engine import Probe, judge
from harness.specs.loader import LoadedSpec

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
) -> tuple[CaseResult, ...]:
    """Run every due case once and return what each showed, in the order of the specs.

    Args:
        specs: Loaded specs.
        when: Which time it is.
        probe: Where.
        where: Which kind of namespace that is.
        marker: None draws a new one.
    """
    cases = tuple(due(specs, when, where))
    own = marker or new_marker()

    def run(item: tuple[int, tuple[LoadedSpec, Case]]) -> CaseResult:
        number, (loaded, case) = item
        # Cases of two specs may make the same name at the same time.
        return judge(loaded.name, case, probe, when=when, marker=f"{own}{number:02d}")

    with ThreadPoolExecutor(max_workers=THREADS) as pool:
        return tuple(pool.map(run, enumerate(cases)))
