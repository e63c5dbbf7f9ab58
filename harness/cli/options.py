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
provider_option = click.option(
    "--cluster",
    "provider",
    type=click.Choice(["embedded"]),
    default="embedded",
    show_default=True,
    help="Who gives the cluster.",
)
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
    from harness.cluster.embedded.home import default_home

    working_dir = Path.cwd()
    return find_tools(
        find_layout(root, working_dir),
        default_home(os.environ, working_dir),
        (lambda _: None) if quiet else say_on_stderr,
    )


def print_json(value: Any) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
