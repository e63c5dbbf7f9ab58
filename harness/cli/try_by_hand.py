"""strandline try."""

from __future__ import annotations

import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import (
    provider_option,
    root_option,
    runs_option,
    seed_option,
    suite_option,
    tools_for,
)
from harness.cli.run import exit_code, show

if TYPE_CHECKING:
    from harness.cluster.provider import ClusterProvider


@click.command(name="try")
@click.argument("task")
@suite_option
@seed_option
@provider_option
@root_option
@runs_option
def try_by_hand(
    *,
    task: str,
    suite: str,
    seed: int | None,
    provider: ClusterProvider,
    root: Path | None,
    runs_dir: Path,
) -> int:
    """Work on one task yourself: a kubeconfig and a prompt, then be graded."""
    from harness.agents.person import PersonAgent
    from harness.bench.drawing import new_seed
    from harness.bench.loader import load_suite
    from harness.bench.platform import platform_of
    from harness.bench.runner import RunOptions, run_suite

    tools = tools_for(root)
    loaded = load_suite(tools.layout, suite, resolve=tools.resolve)
    options = RunOptions(
        only=(task,),
        seed=new_seed() if seed is None else seed,
        provider=provider,
        runs_dir=runs_dir,
    )
    ran = run_suite(
        tools,
        loaded,
        platform_of(tools.layout).specs(tools),
        PersonAgent(tell=click.echo, done=_done),
        options,
    )
    show(ran.report)
    if ran.interrupted:
        raise KeyboardInterrupt
    return exit_code(ran.report, None)


def _done(timeout_s: float) -> bool:
    """Wait for a line on standard input; tell whether it came in time."""
    readable, _, _ = select.select([sys.stdin], [], [], timeout_s)
    if not readable:
        return False
    sys.stdin.readline()
    return True
