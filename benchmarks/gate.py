"""Randomised trials of the gate: something is out of order, is repaired, and when does it open?

An opening before the repair has taken effect is a false one, and there must be none. Whether it has
taken effect is seen by single probes of another thread. Called by `python -m benchmarks.gate`, by
the benchmark for its figures, and by a test for a few of the same.
"""

from __future__ import annotations

import json
import random
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks.workbench import open_workbench
from harness.cli.options import say_on_stderr
from harness.core.files import write_json
from harness.core.waiting import SYSTEM_CLOCK
from harness.errors import WaitTimeoutError
from harness.kube.client import KubeClient
from tests.integration.specs.gate_world import Fault, GateWorld, faults, gate_world

#: Trials that the goal speaks of.
TRIALS = 200

#: Seconds between a fault's effect and its repair: enough for ten tries of the gate.
_OUT_OF_ORDER_S = (0.1, 1.0)

#: Bound of the gate in a trial, in seconds; a policy that was made again holds after 1 s.
_GATE_TIMEOUT_S = 30.0

#: Trials between two lines of progress.
_SAID_EVERY = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One trial.

    Attributes:
        fault: What was out of order.
        drawn: What chance made of it.
        out_of_order_s: Seconds from the fault's effect to its repair.
        repair_s: Seconds from the repair to its effect.
        lag_s: Seconds from the repair's effect until the gate opened; None when it never did.
        false_opening: Whether it opened before the repair.
        relapses: How often something held and was lost before it opened.
    """

    fault: str
    drawn: str
    out_of_order_s: float
    repair_s: float
    lag_s: float | None
    false_opening: bool
    relapses: int


def run_trial(world: GateWorld, name: str, fault: Fault, chance: random.Random) -> Trial:
    """Bring a fault about, open the gate against it, and repair it meanwhile."""
    fault.broken(world)
    world.wait_for(fault.guard, held=False)
    out_of_order_s = chance.uniform(*_OUT_OF_ORDER_S)

    def repair() -> tuple[float, float]:
        SYSTEM_CLOCK.sleep(out_of_order_s)
        began_s = SYSTEM_CLOCK.monotonic_s()
        fault.repaired(world)
        world.wait_for(fault.guard, held=True)
        return began_s, SYSTEM_CLOCK.monotonic_s()

    opened_s, relapses = None, 0
    with ThreadPoolExecutor(1) as pool:
        repaired = pool.submit(repair)
        try:
            report = world.open_gate(fault.guard, timeout_s=_GATE_TIMEOUT_S)
            opened_s, relapses = SYSTEM_CLOCK.monotonic_s(), report.relapses
        except WaitTimeoutError as error:
            say_on_stderr(f"{name}: {error.message}")
        began_s, effective_s = repaired.result()
    return Trial(
        fault=name,
        drawn=fault.drawn,
        out_of_order_s=round(out_of_order_s, 3),
        repair_s=round(effective_s - began_s, 3),
        lag_s=None if opened_s is None else round(opened_s - effective_s, 3),
        false_opening=opened_s is not None and opened_s < began_s,
        relapses=relapses,
    )


def run_trials(
    world: GateWorld, *, trials: int, seed: int, say: Callable[[str], None]
) -> tuple[Trial, ...]:
    """Run so many trials: every fault in turn, in an order and with shares drawn by the seed."""
    chance = random.Random(seed)  # noqa: S311 - a trial must be repeatable
    names: list[str] = []
    found = []
    for number in range(1, trials + 1):
        table = faults(chance)
        if not names:
            names = chance.sample(sorted(table), k=len(table))
        name = names.pop()
        found.append(run_trial(world, name, table[name], chance))
        if number % _SAID_EVERY == 0:
            say(f"gate: {number} of {trials} trials, {_false(found)} false openings")
    return tuple(found)


def measure(
    client: KubeClient,
    folder: Path,
    *,
    trials: int = TRIALS,
    seed: int | None = None,
    say: Callable[[str], None] = say_on_stderr,
) -> dict[str, Any]:
    """Make the world of the trials on a cluster, run them, and return what they showed.

    Args:
        client: The administrator's, of a cluster without a laboratory.
        folder: Where certificates are kept for a moment.
        trials: How many.
        seed: Draws the same trials again; None draws a new one.
        say: Told about progress.
    """
    drawn = secrets.randbelow(2**32) if seed is None else seed
    say(f"gate: {trials} trials with seed {drawn}")
    with gate_world(client, folder) as world:
        found = run_trials(world, trials=trials, seed=drawn, say=say)
    return summary(found, seed=drawn)


def summary(trials: Sequence[Trial], *, seed: int) -> dict[str, Any]:
    """Return what trials showed, as JSON. Pure."""
    lags = [trial.lag_s for trial in trials if trial.lag_s is not None]
    return {
        "seed": seed,
        "trials": len(trials),
        "false_openings": _false(trials),
        "never_opened": len(trials) - len(lags),
        "lag_median_s": round(median(lags), 3) if lags else None,
        "lag_max_s": max(lags, default=None),
        "by_fault": {
            name: _row([trial for trial in trials if trial.fault == name])
            for name in sorted({trial.fault for trial in trials})
        },
        "samples": [asdict(trial) for trial in trials],
    }


def lines_of(result: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the table of a summary. Pure."""
    rows = [("fault", "trials", "false", "lag median s", "lag max s")]
    for name, row in [*result["by_fault"].items(), ("all", result)]:
        figures = [row["trials"], row["false_openings"], row["lag_median_s"], row["lag_max_s"]]
        rows.append((name, *("-" if one is None else f"{one:g}" for one in figures)))
    width = max(len(row[0]) for row in rows)
    return tuple(
        "  ".join((row[0].ljust(width), *(cell.rjust(12) for cell in row[1:]))) for row in rows
    )


def _row(trials: Sequence[Trial]) -> dict[str, Any]:
    lags = [trial.lag_s for trial in trials if trial.lag_s is not None]
    return {
        "trials": len(trials),
        "false_openings": _false(trials),
        "lag_median_s": round(median(lags), 3) if lags else None,
        "lag_max_s": max(lags, default=None),
    }


def _false(trials: Sequence[Trial]) -> int:
    return sum(trial.false_opening for trial in trials)


@click.command()
@click.option("--trials", type=click.IntRange(1, 10_000), default=TRIALS, show_default=True)
@click.option("--seed", type=int, help="Draw the same trials again.")
@click.option("--output", type=click.Path(path_type=Path), help="JSON file for the result.")
def gate(*, trials: int, seed: int | None, output: Path | None) -> None:
    """Run randomised trials of the gate; exit 1 when it opened too early, or not at all."""
    with (
        open_workbench(repeats=1, say=say_on_stderr) as bench,
        bench.cluster("gate") as cluster,
    ):
        client = KubeClient.from_kubeconfig(cluster.kubeconfig)
        try:
            result = measure(client, bench.folder("gate"), trials=trials, seed=seed)
        finally:
            client.close()
    click.echo("\n".join(lines_of(result)))
    click.echo(json.dumps({key: result[key] for key in ("seed", "false_openings", "never_opened")}))
    if output is not None:
        write_json(output, result)
    raise SystemExit(1 if result["false_openings"] or result["never_opened"] else 0)


if __name__ == "__main__":
    gate()
