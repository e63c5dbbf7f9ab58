"""`--stack`, `--policies`, `--var`, `--var-file`: somebody's own stack, in place of our platform.

Everything that can be wrong with them is said before anything is started. Shared by the commands
that work on a provisioned cluster.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from harness.cli.options import CommandT

if TYPE_CHECKING:
    from harness.bench.foundation import Foundation
    from harness.bench.layout import Layout

_OPTIONS = (
    click.option(
        "--var-file",
        "var_files",
        multiple=True,
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="JSON or YAML with values of root variables; may be given more than once.",
    ),
    click.option(
        "--var",
        "texts",
        multiple=True,
        metavar="NAME=TEXT",
        help="Value of a root variable; Terraform converts the text by the declared type.",
    ),
    click.option(
        "--policies",
        "policies_dir",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Policies and specs of that stack. Default: policies/ in its folder, or beside it.",
    ),
    click.option(
        "--stack",
        "stack_dir",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Root module of your own, without a laboratory. Default: our platform; after "
        "provision, what was provisioned.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnStack:
    """A stack of somebody's own, as it was named.

    Attributes:
        overrides: Name to JSON value of root variables; empty where none is given.
    """

    stack_dir: Path
    policies_dir: Path
    overrides: Mapping[str, Any] = field(repr=False)

    def foundation(self) -> Foundation:
        """Return what a cluster is to be provisioned with."""
        from harness.bench.foundation import Foundation

        return Foundation(
            stack_dir=self.stack_dir, policies_dir=self.policies_dir, overrides=self.overrides
        )

    def agreeing(self, standing: Foundation, *, cluster: str) -> None:
        """Do nothing when it is what stands on the cluster.

        Raises:
            ClusterError: It is not; the message says how they differ.
        """
        wanted = self.foundation()
        if not self.overrides:
            wanted = replace(wanted, overrides=standing.overrides)
        found = replace(standing.record(), complete=True)
        found.refuse_other(wanted.record(), cluster=cluster)


def stack_options(command: CommandT) -> CommandT:
    """Add the options; the command gets `own`, an `OwnStack`, or None where none is named.

    Stands above the options of the cluster, which ask whether a laboratory is needed.
    """

    @functools.wraps(command)
    def with_stack(
        *,
        stack_dir: Path | None,
        policies_dir: Path | None,
        texts: tuple[str, ...],
        var_files: tuple[Path, ...],
        **given: Any,
    ) -> Any:
        own = None
        if stack_dir is not None:
            own = _own_stack(stack_dir, policies_dir, texts, var_files)
        elif alone := _named(policies_dir, texts, var_files):
            msg = f"{', '.join(alone)}: together with --stack alone"
            raise click.UsageError(msg)
        return command(own=own, **given)

    adorned: Any = with_stack
    for option in _OPTIONS:
        adorned = option(adorned)
    return cast("CommandT", adorned)


def foundation_named(own: OwnStack | None, layout: Layout) -> Foundation:
    """Return the foundation that was named, or our platform."""
    from harness.bench.platform import platform_of

    return own.foundation() if own else platform_of(layout)


def _own_stack(
    stack_dir: Path,
    policies_dir: Path | None,
    texts: tuple[str, ...],
    var_files: tuple[Path, ...],
) -> OwnStack:
    from harness.bench.layout import find_own_folders
    from harness.cli.values import merged

    stack_dir, policies_dir = find_own_folders(stack_dir, policies_dir)
    overrides = merged(texts, var_files)
    return OwnStack(stack_dir=stack_dir, policies_dir=policies_dir, overrides=overrides)


def _named(
    policies_dir: Path | None, texts: tuple[str, ...], var_files: tuple[Path, ...]
) -> list[str]:
    given = {"--policies": policies_dir, "--var": texts, "--var-file": var_files}
    return [option for option, value in given.items() if value]
