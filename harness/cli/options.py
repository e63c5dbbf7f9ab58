"""Options that several commands share, and the tools that they stand for."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

if TYPE_CHECKING:
    from harness.bench.tools import Tools
    from harness.cluster.provider import ClusterProvider

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

root_option = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder with tf/, tasks/ and policies/. Default: the working directory's own, else ours.",
)
suite_option = click.option(
    "--suite", default="lab-operation", show_default=True, help="Name of the suite."
)
only_option = click.option(
    "--only", multiple=True, metavar="TASK", help="Only this task; may be given more than once."
)
CLUSTER_NAMES = ("embedded", "kind", "existing")

_SOMEBODYS = (
    click.option(
        "--image",
        metavar="REFERENCE",
        help="Image of the laboratory's services, of `--cluster existing`. "
        "Default: STRANDLINE_LAB_IMAGE.",
    ),
    click.option(
        "--kubeconfig",
        type=click.Path(path_type=Path, dir_okay=False, exists=True, resolve_path=True),
        help="File with the context, of `--cluster existing`. Default: KUBECONFIG.",
    ),
    click.option(
        "--context",
        metavar="NAME",
        help="Context of `--cluster existing`; it must be allowed, too. "
        "Default: STRANDLINE_CONTEXT.",
    ),
)


def cluster_options(*, default: str | None) -> Callable[[CommandT], CommandT]:
    """Return what adds `--cluster`, and the options that name somebody's own cluster.

    The command gets `provider`, a `ClusterProvider`, or None where no kind of cluster is named. A
    stack of somebody's own, which `stack_options` gives as `own`, needs no laboratory beside it.

    Args:
        default: Kind of cluster where none is named; None means all kinds but somebody's own.
    """
    cluster = click.option(
        "--cluster",
        "provider",
        type=click.Choice(CLUSTER_NAMES),
        default=default,
        show_default=True,
        help="Who gives the cluster."
        if default
        else "Only what was on this kind of cluster. Default: all kinds but somebody's own.",
    )

    def add(command: CommandT) -> CommandT:
        @functools.wraps(command)
        def with_provider(*, provider: str | None, **given: Any) -> Any:
            named = {name: given.pop(name) for name in ("context", "kubeconfig", "image")}
            laboratory = given.get("own") is None
            return command(provider=_provider(provider, named, laboratory=laboratory), **given)

        adorned: Any = with_provider
        for option in (*_SOMEBODYS, cluster):
            adorned = option(adorned)
        return cast("CommandT", adorned)

    return add


def _provider(
    name: str | None, named: Mapping[str, Any], *, laboratory: bool
) -> ClusterProvider | None:
    given = [f"--{option}" for option, value in named.items() if value is not None]
    if given and name != "existing":
        msg = f"{', '.join(given)}: for --cluster existing alone"
        raise click.UsageError(msg)
    if name is None:
        return None
    from harness.cluster.providers import PROVIDERS, Named

    return PROVIDERS[name](Named(**named, laboratory=laboratory))


provider_option = cluster_options(default="embedded")
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), help="Decides every drawn name. Default: random."
)
runs_option = click.option(
    "--runs-dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Where the run's folder goes.",
)
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="Attempts side by side, each in a world of its own.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")


def say_on_stderr(text: str) -> None:
    """Print one line of progress."""
    click.echo(text, err=True)


def tools_for(root: Path | None, *, quiet: bool = False) -> Tools:
    """Find the layout, the home and what runs Terraform."""
    from harness.bench.layout import find_layout
    from harness.bench.tools import find_tools
    from harness.cluster.home import default_home

    working_dir = Path.cwd()
    return find_tools(
        find_layout(root, working_dir),
        default_home(os.environ, working_dir),
        (lambda _: None) if quiet else say_on_stderr,
    )


def print_json(value: Any) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
