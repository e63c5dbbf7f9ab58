"""strandline validate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import (
    jobs_option,
    json_option,
    only_option,
    print_json,
    provider_option,
    quiet_option,
    root_option,
    runs_option,
    seed_option,
    tools_for,
)
from harness.cli.run import EXIT_FAILED, EXIT_LEFTOVERS

if TYPE_CHECKING:
    from harness.bench.validate import Validated
    from harness.cluster.provider import ClusterProvider


@click.command()
@click.argument("suite", default="lab-operation")
@click.option("--control", "controls", multiple=True, help="Only this control.")
@only_option
@click.option("--truth", "truths", multiple=True, help="Only in this truth, of tasks that have it.")
@seed_option
@jobs_option
@click.option(
    "--act-seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="How long a control may act. Default: 90.",
)
@provider_option
@root_option
@runs_option
@quiet_option
@json_option
def validate(
    *,
    suite: str,
    controls: tuple[str, ...],
    only: tuple[str, ...],
    truths: tuple[str, ...],
    seed: int | None,
    jobs: int,
    act_seconds: float | None,
    provider: ClusterProvider,
    root: Path | None,
    runs_dir: Path,
    quiet: bool,
    as_json: bool,
) -> int:
    """Prove a suite: every control scores what controls.yaml says, on every task."""
    from harness.bench.drawing import new_seed
    from harness.bench.loader import load_suite
    from harness.bench.platform import platform_of
    from harness.bench.runner import RunOptions
    from harness.bench.validate import validate_suite

    tools = tools_for(root, quiet=quiet)
    loaded = load_suite(tools.layout, suite, resolve=tools.resolve)
    options = RunOptions(
        only=only,
        seed=new_seed() if seed is None else seed,
        provider=provider,
        jobs=jobs,
        act_seconds=act_seconds,
        runs_dir=runs_dir,
    )
    validated = validate_suite(
        tools,
        loaded,
        platform_of(tools.layout).specs(tools),
        options,
        controls=controls,
        truths=truths,
    )
    if as_json:
        print_json(_as_json(validated))
    else:
        _show(validated)
    if validated.interrupted:
        raise KeyboardInterrupt
    if validated.leftovers:
        return EXIT_LEFTOVERS
    return 0 if validated.ok else EXIT_FAILED


def _as_json(validated: Validated) -> dict[str, object]:
    rows = [
        {
            "control": row.control,
            "task": row.task,
            "truth": row.truth,
            "expected": row.expected,
            "found": row.found,
            "ok": row.ok,
            "why": row.why,
        }
        for row in validated.rows
    ]
    return {"ok": validated.ok, "rows": rows, "leftovers": list(validated.leftovers)}


def _show(validated: Validated) -> None:
    width = max((len(row.control) for row in validated.rows), default=0)
    for row in validated.rows:
        mark = "ok " if row.ok else "NOT"
        value = row.found["score"]
        score = f"{'-' if value is None else format(value, '.3f')} {row.found['status']}"
        where = f"{row.task} ({row.truth})" if row.truth else row.task
        click.echo(f"{mark} {row.control:<{width}}  {where:<40} {score:<20} {row.why}".rstrip())
    good = sum(row.ok for row in validated.rows)
    click.echo(f"{good} of {len(validated.rows)} as expected")
    for left in validated.leftovers:
        click.echo(f"left behind: {left}")
