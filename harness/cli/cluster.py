"""strandline provision, ready, verify, teardown: a cluster that stays between runs."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import (
    json_option,
    print_json,
    provider_option,
    quiet_option,
    root_option,
    tools_for,
)
from harness.cli.run import EXIT_FAILED
from harness.errors import ClusterError

if TYPE_CHECKING:
    from harness.bench.platform import Tools
    from harness.cluster.provider import Cluster, ClusterProvider


@click.command()
@provider_option
@root_option
@quiet_option
@json_option
def provision(*, provider: ClusterProvider, root: Path | None, quiet: bool, as_json: bool) -> None:
    """Start a cluster that stays, apply the platform, and prove its guard rails."""
    from harness.bench.platform import apply_platform, engine_with_provider, prove
    from harness.kube.client import KubeClient

    tools = tools_for(root, quiet=quiet)
    specs = tools.specs()
    engine = engine_with_provider(tools)
    cluster = provider.provision(tools.home, toolchain=tools.toolchain, progress=tools.say)
    apply_platform(tools, engine, cluster)
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        gate = prove(client, cluster, specs)
    if as_json:
        print_json(
            {
                "provider": cluster.provider,
                "server": cluster.server,
                "kubeconfig": str(cluster.kubeconfig),
                "versions": dict(cluster.versions),
                "cases": len(gate.results),
            }
        )
        return
    click.echo(f"cluster at {cluster.server}, {len(gate.results)} guard rails hold")
    click.echo(f"export KUBECONFIG={cluster.kubeconfig}")


@click.command()
@provider_option
@root_option
@click.option("--timeout-seconds", type=float, default=60.0, show_default=True)
@json_option
def ready(
    *, provider: ClusterProvider, root: Path | None, timeout_seconds: float, as_json: bool
) -> None:
    """Wait until every guard rail of the provisioned cluster holds, three times in a row."""
    from harness.bench.platform import prove
    from harness.kube.client import KubeClient

    tools = tools_for(root)
    specs = tools.specs()
    cluster = _provisioned(tools, provider)
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        gate = prove(client, cluster, specs, timeout_s=timeout_seconds)
    if as_json:
        print_json({"rounds": gate.rounds, "opened_after_s": round(gate.opened_after_s, 3)})
        return
    click.echo(f"ready after {gate.opened_after_s:.1f} s and {gate.rounds} rounds")


@click.command()
@provider_option
@root_option
@json_option
def verify(*, provider: ClusterProvider, root: Path | None, as_json: bool) -> int:
    """Run the safety specs on the provisioned cluster once."""
    from harness.bench import platform
    from harness.kube.client import KubeClient
    from harness.model.results import to_json
    from harness.model.spec import Verdict

    tools = tools_for(root)
    specs = tools.specs()
    cluster = _provisioned(tools, provider)
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        cases = platform.verify(client, cluster, specs)
    counts = {str(verdict): sum(case.verdict is verdict for case in cases) for verdict in Verdict}
    if as_json:
        print_json({**counts, "cases": [to_json(case) for case in cases]})
    else:
        for case in cases:
            click.echo(f"{case.verdict:<8}{case.spec}: {case.case}: {case.detail}")
        click.echo(", ".join(f"{number} {verdict}" for verdict, number in counts.items()))
    return 0 if cases and counts[Verdict.HELD] == len(cases) else EXIT_FAILED


@click.command()
@provider_option
@root_option
def teardown(*, provider: ClusterProvider, root: Path | None) -> None:
    """End the provisioned cluster; somebody's own only loses what we made on it. Idempotent."""
    from harness.bench.teardown import end_cluster

    for line in end_cluster(tools_for(root), provider):
        click.echo(line)


def _provisioned(tools: Tools, provider: ClusterProvider) -> Cluster:
    cluster = provider.find(tools.home)
    if cluster is None:
        msg = f"no provisioned cluster below {tools.home}"
        raise ClusterError(msg, hint="run `strandline provision` first")
    return cluster
