"""What a run of pytest named: which cluster, which stack; and who gives that cluster.

Knows pytest's options and our providers; starts nothing. Called by what collects specs and by the
fixtures.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.bench.layout import find_layout
from harness.bench.tools import Tools, find_tools
from harness.cluster.home import default_home
from harness.cluster.provider import ClusterProvider
from harness.cluster.providers import PROVIDERS, Named

#: Name of the provider of a context, and of the one that needs nothing.
_EXISTING = "existing"
EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What was named.

    Attributes:
        cluster: Name of a provider, or of a context; None where none was named.
        stack_dir: Root module of somebody's own; None means our platform.
        effect_timeout_s: How long guard rails may take to take effect, in seconds.
        working_dir: Folder in which pytest was called: state lies there, as with our commands.
    """

    cluster: str | None
    stack_dir: Path | None
    effect_timeout_s: float
    working_dir: Path

    @property
    def laboratory(self) -> bool:
        """Whether the stack is ours, which needs the laboratory's webhook."""
        return self.stack_dir is None

    def provider(self, *, laboratory: bool) -> ClusterProvider:
        """Return who gives the cluster; an embedded one where none was named."""
        name = self.cluster or EMBEDDED
        if name in PROVIDERS:
            return PROVIDERS[name](Named(laboratory=laboratory))
        return PROVIDERS[_EXISTING](Named(context=name, laboratory=laboratory))

    @property
    def home(self) -> Path:
        """Folder of the harness's state."""
        return default_home(os.environ, self.working_dir).absolute()

    def tools(self, say: Callable[[str], None]) -> Tools:
        """Find what this machine has.

        Raises:
            PrerequisiteError: What runs Terraform is nowhere, and cannot be built.
        """
        return find_tools(find_layout(None, self.working_dir), self.home, say)


def choice_of(config: pytest.Config) -> Choice:
    """Return what the options of a run name, else the project's settings.

    Raises:
        UsageError: The stack is no folder, or a number is none.
    """
    working_dir = config.invocation_params.dir
    given, kept = config.getoption("strandline_stack"), config.getini("strandline_stack")
    stack_dir: Path | None = None
    if given:
        stack_dir = working_dir / given
    elif kept:
        stack_dir = config.rootpath / kept
    if stack_dir is not None and not stack_dir.is_dir():
        msg = f"--strandline-stack: no folder {stack_dir}"
        raise pytest.UsageError(msg)
    seconds = config.getini("strandline_effect_seconds")
    if not re.fullmatch(r"\d+(\.\d+)?", seconds):
        msg = f"strandline_effect_seconds: found {seconds!r}, expected a number of seconds"
        raise pytest.UsageError(msg)
    named = config.getoption("strandline_cluster") or config.getini("strandline_cluster")
    return Choice(
        cluster=named or None,
        stack_dir=stack_dir.resolve() if stack_dir else None,
        effect_timeout_s=float(seconds),
        working_dir=working_dir,
    )
