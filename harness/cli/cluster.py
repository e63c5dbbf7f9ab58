"""strandline provision, ready, verify: a cluster that stays, and what stands on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import (
    json_option,
    print_json,
    provider_option,
    quiet_option,
    root_option,
    say_on_stderr,
    tools_for,
)
from harness.cli.stack_options import OwnStack, foundation_named, stack_options
from harness.errors import ClusterError, HarnessError

if TYPE_CHECKING:
    from harness.bench.foundation import Foundation
    from harness.bench.tools import Tools
    from harness.cluster.provider import Cluster, ClusterProvider

_timeout_option = click.option(
    "--timeout-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Longest wait until every guard rail holds.",
)


@click.command()
@stack_options
@provider_option
@_timeout_option
@root_option
@quiet_option
@json_option
def provision(
    *,
    own: OwnStack | None,
    provider: ClusterProvider,
    timeout_seconds: float,
    root: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Start a cluster that stays, apply the stack, and prove its guard rails.

    Exit codes: 0 all hold; 3 a folder, a variable or a spec is wrong, and nothing was started;
    5 the apply did not end well; 6 no cluster, or another stack stands on it; 8 a guard rail did
    not hold in time, and the cause is named; 9 what a cluster that died had outside is left.
    """
    from harness.bench.elsewhere import settle_abandoned
    from harness.bench.foundation import prove
    from harness.bench.tools import engine_with_provider
    from harness.cli import cases
    from harness.kube.client import KubeClient
    from harness.terraform.engine import ambient_terraform_variables

    tools = tools_for(root, quiet=quiet)
    kept = ambient_terraform_variables(os.environ)
    if kept:
        tools.say(f"kept from Terraform: {', '.join(kept)}")
    foundation = foundation_named(own, tools.layout)
    specs = foundation.specs(tools)
    engine_with_provider(tools)  # built before anything is started
    settle_abandoned(tools)  # a start removes what killed owners left
    cluster = provider.provision(tools.home, toolchain=tools.toolchain, progress=tools.say)
    with (
        _saying_what_stays(cluster),
        closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client,
    ):
        foundation.apply(tools, cluster)
        gate = prove(foundation.probe(client, cluster), specs, timeout_s=timeout_seconds)
    if as_json:
        facts = {
            "provider": cluster.provider,
            "server": cluster.server,
            "kubeconfig": str(cluster.kubeconfig),
            "versions": dict(cluster.versions),
            "stack": str(foundation.stack_dir),
            "kept_from_terraform": list(kept),
        }
        print_json({**facts, **cases.as_json(gate.results)})
        return
    click.echo(
        f"cluster at {cluster.server}, {cases.counts(gate.results)['held']} guard rails hold"
    )
    click.echo(f"export KUBECONFIG={cluster.kubeconfig}")


@click.command()
@stack_options
@provider_option
@root_option
@_timeout_option
@json_option
def ready(
    *,
    own: OwnStack | None,
    provider: ClusterProvider,
    root: Path | None,
    timeout_seconds: float,
    as_json: bool,
) -> None:
    """Wait until every guard rail of what was provisioned holds, three times in a row.

    Exit codes: 0 all hold; 3 a spec is wrong; 6 nothing is provisioned, or something else than
    what is named; 8 a guard rail did not hold in time, and the cause is named.
    """
    from harness.bench.foundation import prove
    from harness.cli import cases
    from harness.kube.client import KubeClient

    tools = tools_for(root)
    cluster, foundation = _provisioned(tools, provider, own)
    specs = foundation.specs(tools)
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        gate = prove(foundation.probe(client, cluster), specs, timeout_s=timeout_seconds)
    if as_json:
        timing = {"rounds": gate.rounds, "opened_after_s": round(gate.opened_after_s, 3)}
        print_json({**timing, **cases.as_json(gate.results)})
        return
    click.echo(f"ready after {gate.opened_after_s:.1f} s and {gate.rounds} rounds")


@click.command()
@stack_options
@provider_option
@root_option
@json_option
def verify(
    *, own: OwnStack | None, provider: ClusterProvider, root: Path | None, as_json: bool
) -> int:
    """Ask everything that the specs of what was provisioned ask, once.

    Exit codes: 0 all hold; 1 something is broken or unknown, or no case was due; 3 a spec is
    wrong; 6 nothing is provisioned, or something else than what is named.
    """
    from harness.bench import foundation
    from harness.cli import cases
    from harness.kube.client import KubeClient

    tools = tools_for(root)
    cluster, standing = _provisioned(tools, provider, own)
    specs = standing.specs(tools)
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        found = foundation.verify(standing.probe(client, cluster), specs)
    if as_json:
        print_json(cases.as_json(found))
    else:
        cases.show(found)
    if not found:
        say_on_stderr(f"error: {standing.policies_dir}: no case is due at 'swept', none was asked")
    return cases.exit_code(found)


def _provisioned(
    tools: Tools, provider: ClusterProvider, own: OwnStack | None
) -> tuple[Cluster, Foundation]:
    """Return the provisioned cluster and what stands on it, which is what was named."""
    from harness.bench.foundation import Foundation

    cluster = provider.find(tools.home)
    if cluster is None:
        msg = f"no provisioned cluster below {tools.home}"
        raise ClusterError(msg, hint="run `strandline provision` first")
    found = Foundation.recalled(cluster)
    if own is not None:
        own.agreeing(found, cluster=cluster.name)
    return cluster, found


@contextmanager
def _saying_what_stays(cluster: Cluster) -> Iterator[None]:
    """Name the cluster when something goes wrong on it: it is there all the same."""
    try:
        yield
    except (HarnessError, KeyboardInterrupt):
        say_on_stderr(
            f"the cluster {cluster.name} at {cluster.server} stays: `strandline teardown` ends it"
        )
        raise
