"""strandline cluster start, stop, status, kubeconfig: bare control planes for people."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import json_option, print_json, quiet_option, root_option, say_on_stderr
from harness.cluster.embedded.nodes import MOST_NODES
from harness.errors import ClusterError

if TYPE_CHECKING:
    from harness.cluster.embedded.named import Described

name_option = click.option(
    "--name", default="default", show_default=True, metavar="NAME", help="Which control plane."
)


@click.group()
def cluster() -> None:
    """Start control planes that stay: etcd, API server, controller manager, and nodes if wanted.

    They carry no platform and no laboratory; `strandline provision` makes a cluster that does.
    """


@cluster.command()
@name_option
@click.option(
    "--nodes",
    type=click.IntRange(0, MOST_NODES),
    help="Nodes without containers, on which pods run without a process. Default: 0.",
)
@root_option
@quiet_option
@json_option
def start(*, name: str, nodes: int | None, root: Path | None, quiet: bool, as_json: bool) -> None:
    """Start a control plane, or find the one of that name; print how to reach it."""
    from harness.bench.layout import find_layout
    from harness.bench.tools import find_toolchain
    from harness.cluster.embedded import named
    from harness.cluster.embedded.control_plane import binary_names

    def say(text: str) -> None:
        if not quiet:
            say_on_stderr(text)

    toolchain = find_toolchain(find_layout(root, Path.cwd()), say)
    home = _home()
    named.start(
        home,
        name,
        nodes=nodes,
        ensure=lambda wanted: toolchain.ensure(binary_names(wanted)),
        progress=say,
    )
    there = _described(home, name)
    if as_json:
        print_json(_as_json(there))
        return
    click.echo(f"export KUBECONFIG={there.kubeconfig}")


@cluster.command()
@name_option
@click.option("--all", "every", is_flag=True, help="All of this home, whatever their names.")
def stop(*, name: str, every: bool) -> None:
    """End a control plane and all that it wrote. Idempotent."""
    from harness.cluster.embedded import named

    home = _home()
    for one in named.names(home) if every else (name,):
        if named.stop(home, one):
            click.echo(f"ended {one}")


@cluster.command()
@click.option("--name", metavar="NAME", help="Only this one; an error when it does not run.")
@json_option
def status(*, name: str | None, as_json: bool) -> None:
    """List control planes: where they are, since when, and what they take."""
    from harness.cluster.embedded import named

    home = _home()
    if name is not None:
        named.find(home, name)
    wanted = (name,) if name is not None else named.names(home)
    found = [there for one in wanted if (there := named.describe(home, one))]
    if as_json:
        print_json([_as_json(there) for there in found])
        return
    for there in found:
        for line in _lines(there):
            click.echo(line)
    if not found:
        click.echo(f"no control planes below {home}")


@cluster.command()
@name_option
@click.option("--raw", is_flag=True, help="Print the file's content, with every key inside.")
def kubeconfig(*, name: str, raw: bool) -> None:
    """Print the path of the admin's kubeconfig."""
    from harness.cluster.embedded import named
    from harness.cluster.kubeconfig import with_contents

    path = named.find(_home(), name).kubeconfig
    click.echo(with_contents(path).decode() if raw else str(path), nl=not raw)


def _home() -> Path:
    from harness.cluster.home import default_home

    return default_home(os.environ, Path.cwd()).absolute()


def _described(home: Path, name: str) -> Described:
    from harness.cluster.embedded import named

    there = named.describe(home, name)
    if there is None:  # somebody stopped it in between
        msg = f"the control plane {name!r} is gone again"
        raise ClusterError(msg, hint="start it again")
    return there


def _lines(there: Described) -> list[str]:
    ended = f" ({there.why})" if there.why else ""
    versions = ", ".join(f"{part} {version}" for part, version in there.versions.items())
    pids = ", ".join(
        f"{part.removesuffix('-command')} {pid}"
        for part, pid in there.pids.items()
        if part == "supervisor" or part.endswith("-command")
    )
    facts = {
        "server": there.server,
        "up": f"{there.uptime_s:.0f} s" if there.uptime_s else "",
        "nodes": str(there.nodes),
        "versions": versions,
        "pids": pids,
        "memory": f"{there.memory_bytes / 1024**2:.0f} MiB" if there.memory_bytes else "",
        "folder": str(there.path),
    }
    return [
        f"{there.name}: {there.state}{ended}",
        *(f"    {label:<10}{value}" for label, value in facts.items() if value),
    ]


def _as_json(there: Described) -> dict[str, Any]:
    return {
        "name": there.name,
        "state": there.state,
        "why": there.why or None,
        "server": there.server or None,
        "kubeconfig": str(there.kubeconfig),
        "nodes": there.nodes,
        "uptime_seconds": round(there.uptime_s, 1),
        "versions": dict(there.versions),
        "pids": dict(there.pids),
        "memory_bytes": there.memory_bytes,
        "path": str(there.path),
    }
