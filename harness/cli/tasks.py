"""strandline tasks."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import json_option, print_json, root_option, tools_for


@click.group()
def tasks() -> None:
    """List a suite's tasks, or check that it is sound."""


@tasks.command(name="list")
@click.argument("suite", default="lab-operation")
@root_option
@json_option
def list_tasks(*, suite: str, root: Path | None, as_json: bool) -> None:
    """List the tasks of a suite."""
    from harness.bench.loader import load_suite
    from harness.model.results import to_json

    tools = tools_for(root)
    loaded = load_suite(tools.layout, suite, resolve=tools.resolve)
    if as_json:
        print_json(to_json(loaded.suite))
        return
    click.echo(f"{loaded.suite.name} v{loaded.suite.version}: {loaded.suite.description}")
    for task in loaded.suite.tasks:
        kinds = ", ".join(check.kind for check in task.checks)
        click.echo(f"  {task.id:<36}{task.category:<11}{task.stack:<16}{kinds}")


@tasks.command()
@click.argument("suite", required=False)
@root_option
@json_option
def lint(*, suite: str | None, root: Path | None, as_json: bool) -> None:
    """Check suites, controls, policies and specs; nothing is started.

    The first thing that is wrong is told with file, line and key, and the exit code is 3.
    """
    from harness.bench.loader import load_controls, load_suite
    from harness.bench.platform import platform_of

    tools = tools_for(root)
    names = (suite,) if suite else tools.layout.suites()
    rows = []
    for name in names:
        loaded = load_suite(tools.layout, name, resolve=tools.resolve)
        controls = load_controls(loaded)
        rows.append({"suite": name, "tasks": len(loaded.tasks), "controls": len(controls)})
    specs = platform_of(tools.layout).specs(tools)
    cases = sum(len(spec.spec.spec.cases) for spec in specs)
    if as_json:
        print_json({"ok": True, "suites": rows, "specs": len(specs), "cases": cases})
        return
    for row in rows:
        click.echo(f"{row['suite']}: {row['tasks']} tasks, {row['controls']} controls")
    click.echo(f"policies: {len(specs)} specs, {cases} cases")
