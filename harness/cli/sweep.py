"""strandline sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.durations import Duration
from harness.cli.options import cluster_options, json_option, print_json, root_option, tools_for
from harness.cli.run import EXIT_LEFTOVERS

if TYPE_CHECKING:
    from harness.cluster.provider import ClusterProvider


@click.command()
@cluster_options(default=None)
@click.option("--dry-run", is_flag=True, help="Only say what nobody alive answers for.")
@click.option(
    "--older-than",
    "older_than_s",
    type=Duration(),
    default="24h",
    show_default=True,
    help="Age from which a cluster of ours that no record here names counts as left behind, for "
    "example 90m, 24h, 2d.",
)
@root_option
@json_option
def sweep(
    *,
    provider: ClusterProvider | None,
    dry_run: bool,
    older_than_s: float,
    root: Path | None,
    as_json: bool,
) -> int:
    """Take down what a killed command left behind, and nothing else.

    It goes by records, so it needs no name of a stack. Exit codes: 0 nothing is left; 9 something
    is, and it is named with what keeps it.
    """
    from harness.bench.orphans import sweep_orphans
    from harness.cluster.providers import PROVIDERS, Named
    from harness.core.interrupts import shielded

    tools = tools_for(root)
    every = (make(Named()) for make in PROVIDERS.values())
    # Somebody's own cluster is only looked at when it is named.
    providers = [provider] if provider else [one for one in every if not one.keeps_cluster]
    with shielded(tools.say):
        orphans = sweep_orphans(
            tools, providers=providers, dry_run=dry_run, older_than_s=older_than_s
        )
    left_behind = (*orphans.leftovers, *orphans.elsewhere, *orphans.strangers)
    if as_json:
        print_json(
            {
                "found": list(orphans.found),
                "deleted": orphans.deleted,
                "leftovers": [
                    {"object": left.object, "blocker": left.blocker} for left in left_behind
                ],
            }
        )
    else:
        for line in orphans.found:
            click.echo(f"{'would sweep' if dry_run else 'swept'} {line}")
        for left in left_behind:
            click.echo(f"left behind: {left}")
        if not orphans.found and not left_behind:
            click.echo("nothing of ours is left")
    return EXIT_LEFTOVERS if left_behind else 0
