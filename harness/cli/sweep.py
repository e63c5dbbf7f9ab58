"""strandline sweep."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import json_option, print_json, provider_option, root_option, tools_for
from harness.cli.run import EXIT_LEFTOVERS


@click.command()
@provider_option
@click.option("--dry-run", is_flag=True, help="Only say what nobody alive answers for.")
@root_option
@json_option
def sweep(*, provider: str, dry_run: bool, root: Path | None, as_json: bool) -> int:
    """Take down what a killed run left behind, and nothing else."""
    from harness.bench.orphans import sweep_orphans
    from harness.core.interrupts import shielded

    tools = tools_for(root)
    with shielded(tools.say):
        orphans = sweep_orphans(tools, provider=provider, dry_run=dry_run)
    if as_json:
        print_json(
            {
                "found": list(orphans.found),
                "deleted": orphans.deleted,
                "leftovers": [
                    {"object": left.object, "blocker": left.blocker} for left in orphans.leftovers
                ],
            }
        )
    else:
        for line in orphans.found:
            click.echo(f"{'would sweep' if dry_run else 'swept'} {line}")
        for left in orphans.leftovers:
            click.echo(f"left behind: {left}")
        if not orphans.found and not orphans.leftovers:
            click.echo("nothing of ours is left")
    return EXIT_LEFTOVERS if orphans.leftovers else 0
