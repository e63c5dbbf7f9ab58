"""What this machine gives to whoever builds on a cluster: places, binaries, the engine, a voice.

Found once a command; refuses to know what is built with it. Called by the command line, and handed
down from there.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.bench.layout import Layout
from harness.cluster.toolchain import Toolchain, default_cache_dir
from harness.terraform.engine import Engine, load_engine
from harness.terraform.variables import ResolvedVariables, resolve

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)  # no slots: what was found is kept beside the fields
class Tools:
    """What this machine gives: where things are, and what runs them.

    Attributes:
        layout: Stacks, tasks, policies.
        home: The harness's own folder.
        toolchain: Binaries, found or built.
        say: Told about progress, a line at a time.
    """

    layout: Layout
    home: Path
    toolchain: Toolchain
    say: Say

    @functools.cached_property
    def engine(self) -> Engine:
        """Terraform or OpenTofu, found when it is first needed; OpenTofu is built for want of both.

        Raises:
            PrerequisiteError: It is nowhere, and cannot be built.
        """
        return load_engine(self.toolchain.ensure_terraform(), plugin_mirror=None)

    def resolve(self, stack_dir: Path, overrides: Mapping[str, Any]) -> ResolvedVariables:
        """Ask Terraform for the values of a stack's variables."""
        return resolve(self.engine, stack_dir, overrides)


def find_tools(
    layout: Layout, home: Path, say: Say, environ: Mapping[str, str] = os.environ
) -> Tools:
    """Return what this machine gives; nothing is looked for before it is needed."""
    toolchain = find_toolchain(layout, say, environ)
    return Tools(layout=layout, home=home.absolute(), toolchain=toolchain, say=say)


def find_toolchain(layout: Layout, say: Say, environ: Mapping[str, str] = os.environ) -> Toolchain:
    """Return what finds and builds binaries; nothing is looked for before it is needed."""
    return Toolchain(
        root=layout.toolchain_root,
        cache_dir=default_cache_dir(environ),
        environ=environ,
        progress=say,
    )


def engine_with_provider(tools: Tools) -> Engine:
    """Return the engine with a mirror that has the Kubernetes provider; it is built if need be."""
    return replace(tools.engine, plugin_mirror=tools.toolchain.provider_mirror())
