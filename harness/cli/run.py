"""strandline run."""

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
    suite_option,
    tools_for,
)

if TYPE_CHECKING:
    from harness.agents.agent import Agent
    from harness.bench.loader import LoadedSuite
    from harness.cluster.provider import ClusterProvider
    from harness.model.results import RunReport

EXIT_FAILED = 1
EXIT_LEFTOVERS = 9


@click.command()
@suite_option
@click.option("--agent", "agent_name", metavar="NAME", help="`control:NAME`, or `openai`.")
@click.option(
    "--agent-command",
    metavar="COMMAND",
    help="Any program. {prompt_file}, {prompt}, {namespace}, {kubeconfig} are filled in; without "
    "a prompt among its arguments it gets it on standard input.",
)
@click.option("--model", metavar="MODEL", help="Model of `--agent openai`.")
@click.option("--base-url", metavar="URL", help="Server of `--agent openai`.")
@click.option("--temperature", type=float, help="Sampling temperature of `--agent openai`.")
@click.option(
    "--usd-per-million",
    type=(float, float),
    metavar="IN OUT",
    help="Price of a million tokens; without it the cost is unknown.",
)
@only_option
@click.option("--repeats", type=click.IntRange(1, 1000), default=1, show_default=True)
@seed_option
@jobs_option
@provider_option
@click.option(
    "--act-seconds", type=click.FloatRange(min=0, min_open=True), help="Shorter act limit."
)
@click.option("--fail-under", type=click.FloatRange(0, 1), help="Exit 1 only below this index.")
@root_option
@runs_option
@quiet_option
@json_option
def run(
    *,
    suite: str,
    agent_name: str | None,
    agent_command: str | None,
    model: str | None,
    base_url: str | None,
    temperature: float | None,
    usd_per_million: tuple[float, float] | None,
    only: tuple[str, ...],
    repeats: int,
    seed: int | None,
    jobs: int,
    provider: ClusterProvider,
    act_seconds: float | None,
    fail_under: float | None,
    root: Path | None,
    runs_dir: Path,
    quiet: bool,
    as_json: bool,
) -> int:
    """Run a suite with an agent, on a cluster, and report what it scored.

    Uses the provisioned cluster if there is one, else one that ends with the run.
    """
    if (agent_name is None) == (agent_command is None):
        msg = "give either --agent or --agent-command"
        raise click.UsageError(msg)
    from harness.bench.drawing import new_seed
    from harness.bench.loader import load_suite
    from harness.bench.platform import platform_of
    from harness.bench.runner import RunOptions, run_suite
    from harness.model.results import to_json

    tools = tools_for(root, quiet=quiet)
    loaded = load_suite(tools.layout, suite, resolve=tools.resolve)
    specs = platform_of(tools.layout).specs(tools)
    agent = _agent(
        loaded,
        agent_name,
        agent_command,
        {"model": model, "base_url": base_url, "temperature": temperature},
        usd_per_million,
    )
    ran = run_suite(
        tools,
        loaded,
        specs,
        agent,
        RunOptions(
            only=only,
            repeats=repeats,
            seed=new_seed() if seed is None else seed,
            provider=provider,
            jobs=jobs,
            act_seconds=act_seconds,
            runs_dir=runs_dir,
        ),
    )
    if as_json:
        print_json(to_json(ran.report))
    else:
        show(ran.report)
        click.echo(f"\nreport: {ran.run_dir.report_file}")
    if ran.interrupted:
        raise KeyboardInterrupt
    return exit_code(ran.report, fail_under)


def show(report: RunReport) -> None:
    """Print a report: a table on a terminal, plain lines to a pipe."""
    from rich.console import Console

    from harness.report.terminal import print_report

    print_report(report, Console(highlight=False))


def exit_code(report: RunReport, fail_under: float | None) -> int:
    """Return the exit code that a report stands for. Pure."""
    if report.teardown.leftovers:
        return EXIT_LEFTOVERS
    if report.specs.broken or report.specs.unknown:
        return EXIT_FAILED
    counts = report.denominators
    if fail_under is not None:
        reached = report.index is not None and report.index >= fail_under
        return 0 if reached else EXIT_FAILED
    return 0 if counts.get("passed", 0) == counts["scheduled"] else EXIT_FAILED


def _agent(
    loaded: LoadedSuite,
    name: str | None,
    command: str | None,
    chat: dict[str, str | float | None],
    usd_per_million: tuple[float, float] | None,
) -> Agent:
    from harness.agents.command import CommandAgent, ControlAgent

    if command is not None:
        return CommandAgent(command)
    if name is not None and name.startswith("control:"):
        return ControlAgent(loaded.control_path(name.removeprefix("control:")))
    if name != "openai":
        msg = f"unknown agent {name!r}, expected control:NAME or openai"
        raise click.UsageError(msg)
    if chat["model"] is None:
        msg = "--agent openai needs --model"
        raise click.UsageError(msg)
    from harness.agents.openai_chat import OpenAIAgent
    from harness.agents.usage import Prices

    prices = None
    if usd_per_million:
        prices = Prices(
            input_usd_per_million=usd_per_million[0], output_usd_per_million=usd_per_million[1]
        )
    return OpenAIAgent(**chat, prices=prices)  # type: ignore[arg-type]
