"""Options that several commands share, and the tools that they stand for."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from harness.bench.platform import Tools

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


def _into_environment(variable: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Return a callback that hands an option on as the variable that stands for it."""

    def set_variable(_context: click.Context, _parameter: click.Parameter, value: Any) -> None:
        if value is not None:
            os.environ[variable] = str(value)

    return set_variable


def cluster_options(*, default: str | None) -> Callable[[CommandT], CommandT]:
    """Return what adds `--cluster`, and the options that name somebody's own cluster.

    Those are environment variables, too, which providers read: a table of constructors has no place
    for what one of them alone needs.

    Args:
        default: Kind of cluster where none is named; None means all kinds but somebody's own.
    """
    options = (
        click.option(
            "--image",
            metavar="REFERENCE",
            expose_value=False,
            callback=_into_environment("STRANDLINE_LAB_IMAGE"),
            help="Image of the laboratory's services, of `--cluster existing`.",
        ),
        click.option(
            "--kubeconfig",
            type=click.Path(dir_okay=False, exists=True, resolve_path=True),
            expose_value=False,
            callback=_into_environment("KUBECONFIG"),
            help="File with the context, of `--cluster existing`. Default: KUBECONFIG.",
        ),
        click.option(
            "--context",
            metavar="NAME",
            expose_value=False,
            callback=_into_environment("STRANDLINE_CONTEXT"),
            help="Context of `--cluster existing`; it must be allowed, too.",
        ),
        click.option(
            "--cluster",
            "provider",
            type=click.Choice(CLUSTER_NAMES),
            default=default,
            show_default=True,
            help="Who gives the cluster."
            if default
            else "Only what was on this kind of cluster. Default: all kinds but somebody's own.",
        ),
    )

    def add(command: CommandT) -> CommandT:
        for option in options:
            command = option(command)
        return command

    return add


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
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")


def say_on_stderr(text: str) -> None:
    """Print one line of progress."""
    click.echo(text, err=True)


def tools_for(root: Path | None, *, quiet: bool = False) -> Tools:
    """Find the layout, the home and what runs Terraform."""
    from harness.bench.layout import find_layout
    from harness.bench.platform import find_tools
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
