"""What each kind of cluster needs of a machine, beside what the doctor looks at for all of them.

Looks, and builds and starts nothing. Called by `strandline doctor`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from harness.cli.options import CLUSTER_NAMES
from harness.errors import ConfigError, HarnessError, PrerequisiteError

if TYPE_CHECKING:
    from harness.bench.foundation import Foundation
    from harness.bench.tools import Tools
    from harness.cluster.doctor import Finding
    from harness.cluster.toolchain import Toolchain

#: Finding to the kinds of cluster that need it; what is not named here is for all of them.
_NEEDED_BY: Mapping[str, tuple[str, ...]] = {
    "etcd": ("embedded",),
    "kube-apiserver": ("embedded",),
    "kube-controller-manager": ("embedded",),
    "kube-scheduler": ("embedded",),
    "kwok": ("embedded",),
    "open files": ("embedded",),
    "container engine": ("kind",),
    "kind": ("kind",),
    "node image": ("kind",),
    "allowed contexts": ("existing",),
}


def needed_by(name: str) -> tuple[str, ...]:
    """Return the kinds of cluster that need what a finding is about. Pure."""
    return _NEEDED_BY.get(name, CLUSTER_NAMES)


def look_for_clusters(toolchain: Toolchain, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what only one kind of cluster needs; without it the others are as well as ever."""
    from harness.cluster.doctor import Finding
    from harness.cluster.existing.allowed import allowed_contexts_path, read_allowed
    from harness.cluster.images.places import default_images_dir
    from harness.cluster.kind.images import choose_node_image

    try:
        kind = toolchain.find("kind")
        text = f"{kind.version} at {kind.path}" if kind else "will be built"
    except PrerequisiteError as error:
        text = error.message
    yield Finding(name="kind", ok=True, found=text, needed="found or built, for --cluster kind")
    images_dir = default_images_dir(environ)
    source = choose_node_image(environ, toolchain=toolchain, cache_dir=images_dir)
    yield Finding(
        name="node image",
        ok=True,
        found=source.reference or "kind's own, which will be pulled",
        needed="one, for --cluster kind",
        hint="" if source.reference else "where nothing can be pulled, run make node-image",
    )
    path = allowed_contexts_path(environ)
    needed = "the one that is named, for --cluster existing"
    try:
        names = [entry.context for entry in read_allowed(path)]
    except ConfigError as error:
        hint = error.hint or "correct the file"
        yield Finding(
            name="allowed contexts", ok=False, found=error.message, needed=needed, hint=hint
        )
        return
    found = ", ".join(names) or f"none in {path}"
    yield Finding(name="allowed contexts", ok=True, found=found, needed=needed)


def look_at_stack(tools: Tools, foundation: Foundation) -> Iterator[Finding]:
    """Yield whether a stack's variables have values, and its specs can be asked."""
    from harness.cluster.doctor import Finding

    def finding(name: str, needed: str, found: str, error: HarnessError | None = None) -> Finding:
        hint = (error.hint or "correct it") if error else ""
        return Finding(name=name, ok=error is None, found=found, needed=needed, hint=hint)

    needed = "a value for every variable"
    try:
        resolved = tools.resolve(foundation.stack_dir, foundation.overrides)
    except HarnessError as error:
        yield finding("stack", needed, error.message, error)
        return
    yield finding("stack", needed, f"{foundation.stack_dir}, {len(resolved.values)} values")
    needed = "specs that can be asked"
    try:
        specs = foundation.specs(tools)
    except HarnessError as error:
        yield finding("specs", needed, error.message, error)
        return
    cases = sum(len(spec.spec.spec.cases) for spec in specs)
    yield finding("specs", needed, f"{len(specs)} specs, {cases} cases")
