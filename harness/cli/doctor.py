"""strandline doctor."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import click

from harness.cli.options import (
    json_option,
    print_json,
    root_option,
    say_on_stderr,
    tools_for,
)
from harness.cli.stack_options import OwnStack, stack_options
from harness.errors import PrerequisiteError


@click.command()
@stack_options
@click.option("--build", is_flag=True, help="Build what is nowhere, before looking.")
@click.option(
    "--also",
    type=click.Choice(("kind", "kube-scheduler", "kwok", "tofu")),
    multiple=True,
    help="Build this too, which only some need; may be given more than once.",
)
@root_option
@json_option
def doctor(
    *,
    own: OwnStack | None,
    build: bool,
    also: tuple[str, ...],
    root: Path | None,
    as_json: bool,
) -> int:
    """Say what this machine has, what will be built, and what is missing.

    With `--stack` also whether its variables have values, and its specs can be asked. `needed_by`
    of the JSON names the kinds of cluster. Exit codes: 0 all is well; 4 something is missing or
    wrong.
    """
    from harness.bench.layout import find_layout
    from harness.bench.tools import find_toolchain
    from harness.cli import needs
    from harness.cluster.doctor import gather, judge
    from harness.cluster.embedded.control_plane import BINARY_NAMES
    from harness.cluster.home import default_home
    from harness.cluster.images.places import default_images_dir
    from harness.cluster.kind.engine import find_engine
    from harness.cluster.toolchain import default_cache_dir

    layout = find_layout(root, Path.cwd())
    toolchain = find_toolchain(layout, say_on_stderr)
    if build or also:
        toolchain.ensure([*BINARY_NAMES, "kubectl", *also])
        toolchain.ensure_terraform()
        toolchain.provider_mirror()
    home = default_home(os.environ, Path.cwd())
    facts = gather(
        toolchain=toolchain,
        home=home,
        cache_dir=default_cache_dir(os.environ),
        find_engine=partial(find_engine, settings_dir=default_images_dir(os.environ)),
    )
    findings = [*judge(facts), *needs.look_for_clusters(toolchain, os.environ)]
    if own is not None and facts.terraform is not None:  # else it would be built
        findings += needs.look_at_stack(tools_for(root), own.foundation())
    if as_json:
        print_json(
            [
                {
                    "name": finding.name,
                    "ok": finding.ok,
                    "found": finding.found,
                    "needed": finding.needed,
                    "hint": finding.hint,
                    "needed_by": list(needs.needed_by(finding.name)),
                }
                for finding in findings
            ]
        )
    else:
        for finding in findings:
            line = f"{'ok ' if finding.ok else 'NOT'} {finding.name:<28}{finding.found}"
            click.echo(line if finding.ok else f"{line}; needed: {finding.needed}")
            if finding.hint:
                click.echo(f"    {finding.hint}")
    return 0 if all(finding.ok for finding in findings) else PrerequisiteError.exit_code
