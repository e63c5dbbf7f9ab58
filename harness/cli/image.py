"""strandline image: the container images that the project builds by itself."""

from __future__ import annotations

import os
from pathlib import Path

import click

from harness.cli.options import json_option, print_json, root_option, say_on_stderr


@click.group()
def image() -> None:
    """Build the images that a kind cluster needs, and keep them in the cache."""


@image.command()
@click.option(
    "--engine",
    type=click.Choice(["docker", "podman"]),
    help="Build by the Containerfile, from a base image, instead of from Debian packages.",
)
@click.option("--base", help="Base image for the engine; it must have Python 3.11 as python3.")
@json_option
def lab(*, engine: str | None, base: str | None, as_json: bool) -> int:
    """Make the image of the laboratory's services, unless it is there already."""
    from harness.cluster.images.lab import ensure_lab_image
    from harness.cluster.images.places import default_images_dir
    from harness.cluster.kind.engine import ENGINE_VARIABLE, find_engine

    if base and not engine:
        msg = "--base is for --engine"
        raise click.UsageError(msg)
    cache_dir = default_images_dir(os.environ)
    found = None
    if engine:
        environ = {**os.environ, ENGINE_VARIABLE: engine}
        found = find_engine(environ, settings_dir=cache_dir, for_new_node=False)
    made = ensure_lab_image(cache_dir, say_on_stderr, engine=found, base=base)
    show(made.reference, made.archive, as_json=as_json)
    return 0


@image.command()
@root_option
@json_option
def node(*, root: Path | None, as_json: bool) -> int:
    """Make a node image for kind where none can be pulled, unless it is there already."""
    from harness.bench.layout import find_layout
    from harness.bench.tools import find_toolchain
    from harness.cluster.images.node import ensure_node_image
    from harness.cluster.images.places import default_images_dir

    toolchain = find_toolchain(find_layout(root, Path.cwd()), say_on_stderr)
    made = ensure_node_image(toolchain, default_images_dir(os.environ), say_on_stderr)
    show(made.reference, made.archive, as_json=as_json)
    return 0


def show(reference: str, archive: Path, *, as_json: bool) -> None:
    """Print where an image is."""
    size_bytes = archive.stat().st_size
    if as_json:
        print_json({"reference": reference, "archive": str(archive), "size_bytes": size_bytes})
    else:
        click.echo(f"{reference}  {archive}  {size_bytes / 1e6:.0f} MB")
