"""strandline teardown: the end of what was provisioned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import (
    json_option,
    print_json,
    provider_option,
    root_option,
    say_on_stderr,
    tools_for,
)
from harness.cli.stack_options import OwnStack, stack_options
from harness.errors import ClusterError, TeardownError

if TYPE_CHECKING:
    from harness.cluster.provider import Cluster, ClusterProvider


@click.command()
@stack_options
@provider_option
@click.option(
    "--forget",
    metavar="NAME",
    help="Delete nothing on any cluster: forget one of somebody's own that is gone, on your word, "
    "and destroy what its stack made elsewhere. NAME is its folder below clusters/ in the home.",
)
@root_option
@json_option
def teardown(
    *,
    own: OwnStack | None,
    provider: ClusterProvider,
    forget: str | None,
    root: Path | None,
    as_json: bool,
) -> int:
    """End the provisioned cluster; somebody's own only loses what we made on it. Idempotent.

    Exit codes: 0 nothing of ours is left; 6 something else stands there than what is named;
    9 something is left, and it is named with what keeps it.
    """
    if forget and not provider.keeps_cluster:
        msg = "--forget: for --cluster existing alone"
        raise click.UsageError(msg)
    from harness.bench.teardown import end_cluster, forget_cluster

    tools = tools_for(root)
    if own is not None and (cluster := provider.find(tools.home)) is not None:
        _refuse_other_folder(own, cluster)
    try:
        lines = (
            forget_cluster(tools, provider, name=forget) if forget else end_cluster(tools, provider)
        )
    except TeardownError as error:
        if not as_json:
            raise
        print_json({"leftovers": [_leftover(line) for line in error.leftovers]})
        say_on_stderr(f"error: {error.message}")
        return error.exit_code
    if as_json:
        print_json({"leftovers": [], "notes": list(lines)})
    else:
        for line in lines:
            click.echo(line)
    return 0


def _leftover(line: str) -> dict[str, str]:
    """Return what is left and what keeps it, of a line `OBJECT (BLOCKER)`. Pure."""
    name, _, blocker = line.partition(" (")
    return {"object": name, "blocker": blocker.removesuffix(")")}


def _refuse_other_folder(own: OwnStack, cluster: Cluster) -> None:
    """Take down nothing else than what is named; its files may have changed since."""
    from harness.bench.record import read_record

    record = read_record(cluster.state_dir)
    if record is not None and record.stack_dir != own.stack_dir:
        msg = f"cluster {cluster.name}: another stack stands there: {record.stack_dir}"
        raise ClusterError(msg, hint="name that one, or none")
