"""What parts that are measured elsewhere show in the table."""

from __future__ import annotations

from typing import Any

from benchmarks import gate_figures, sweep_figures


def _gate(*lags_s: float | None, false_openings: int = 0) -> dict[str, Any]:
    return {
        "trials": len(lags_s),
        "false_openings": false_openings,
        "never_opened": sum(lag is None for lag in lags_s),
        "samples": [{"lag_s": lag} for lag in lags_s],
    }


def _sweep(**seconds: float) -> dict[str, Any]:
    return {
        "sizes": [
            {"objects": int(size.removeprefix("n")), "seconds": [took], "median_s": took}
            for size, took in seconds.items()
        ]
    }


def test_the_gate_shows_its_lag_in_milliseconds_and_what_must_be_nothing() -> None:
    lag, early, never = gate_figures.figures_of(_gate(0.1, 0.2, 0.9))

    assert (lag.ours, lag.unit, lag.met) == (200.0, "ms", True)
    assert (early.name, early.ours, early.met) == ("opened too early, of 3 trials", 0, True)
    assert (never.name, never.ours, never.met) == ("never opened, of 3 trials", 0, True)


def test_one_false_opening_is_a_goal_missed() -> None:
    early = gate_figures.figures_of(_gate(0.1, false_openings=1))[1]

    assert early.met is False


def test_a_gate_that_never_opened_misses_its_goal_and_has_no_lag() -> None:
    figures = gate_figures.figures_of(_gate(None, None))

    assert [(figure.name, figure.met) for figure in figures] == [
        ("opened too early, of 2 trials", True),
        ("never opened, of 2 trials", False),
    ]


def test_a_sweep_shows_seconds_by_size_the_rate_of_the_largest_and_its_growth() -> None:
    figures = sweep_figures.figures_of(_sweep(n10=0.5, n100=1.0, n1000=4.0))

    assert [(figure.name, round(figure.ours, 3), figure.met) for figure in figures] == [
        ("10 objects", 0.5, None),
        ("100 objects", 1.0, True),
        ("1,000 objects", 4.0, None),
        ("rate at 1,000 objects", 250.0, True),
        ("growth from 10 to 100", 0.2, True),
        ("growth from 100 to 1,000", 0.4, True),
    ]


def test_a_sweep_that_gets_slower_by_the_object_is_not_linear() -> None:
    figures = sweep_figures.figures_of(_sweep(n100=0.4, n1000=4.1))

    assert figures[-1].met is False


def test_a_sweep_that_is_too_slow_is_said_to_be() -> None:
    hundred, _, rate, _ = sweep_figures.figures_of(_sweep(n100=2.1, n1000=5.1))

    assert hundred.met is False
    assert rate.met is False
