"""The laboratory's figures: what a decision takes, what the hook adds, how soon a call is sent.

Owns what is good enough; refuses to measure. Called by `python -m benchmarks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles

from benchmarks import admission, dispatch
from benchmarks.admission import Creates
from benchmarks.figures import Bound, Figure, Goal, Part, alone
from benchmarks.laboratory import laboratory
from benchmarks.workbench import Workbench

PART = "laboratory"


def _at_most(limit: float) -> Goal:
    return Goal(bound=Bound.OURS_AT_MOST, limit=limit)


def measure(bench: Workbench) -> Part:
    """Measure all of it in one laboratory."""
    with laboratory(bench, PART) as world:
        decisions, trips = [], []
        for number in range(bench.repeats):
            bench.say(f"{PART}: decisions, {number + 1} of {bench.repeats}")
            decisions += admission.decisions(world)
            trips += admission.round_trips(world)
        bench.say(f"{PART}: creates with the hook and without")
        created = admission.creates(world, blocks=bench.repeats)
        bench.say(f"{PART}: dispatch with {dispatch.IN_FLIGHT} runs in flight")
        lags = dispatch.lags_ms(world)
    return Part(figures=figures_of(decisions, trips, created, lags))


def figures_of(
    decisions: Sequence[float], trips: Sequence[float], created: Creates, lags: Sequence[float]
) -> tuple[Figure, ...]:
    """Return the lines of the table, of milliseconds. Pure."""
    rate = admission.RATE
    added = median(created.hooked_ms) - median(created.bare_ms)
    return (
        _percentile(f"decision at {rate} a second, p99", decisions, goal=_at_most(5)),
        alone(PART, f"review with its reads at {rate} a second, p50", ours=trips, unit="ms"),
        _percentile(f"review with its reads at {rate} a second, p99", trips),
        Figure(
            part=PART,
            name="added to a create by the hook, p50",
            unit="ms",
            ours=added,
            goal=_at_most(8),
            samples={"hooked": tuple(created.hooked_ms), "bare": tuple(created.bare_ms)},
        ),
        alone(
            PART,
            f"wish to dispatch with {dispatch.IN_FLIGHT} runs in flight",
            ours=lags,
            unit="ms",
            goal=_at_most(100),
        ),
    )


def _percentile(name: str, values: Sequence[float], *, goal: Goal | None = None) -> Figure:
    p99 = quantiles(values, n=100, method="inclusive")[-1]
    return Figure(
        part=PART, name=name, unit="ms", ours=p99, goal=goal, samples={"ours": tuple(values)}
    )
