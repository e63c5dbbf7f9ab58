"""Control planes that people start by name, bare: no webhook, no platform, nothing of the lab.

Their folders begin with a prefix of their own, so that none is taken for the cluster that carries
a platform, or for somebody else's. Called by the command group `strandline cluster`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.embedded.nodes import MOST_NODES
from harness.cluster.embedded.provisioned import (
    find_provisioned,
    nodes_of,
    provision,
    teardown,
    why_ended,
)
from harness.cluster.home import clusters_dir, read_ledger, state_dir_of
from harness.cluster.provider import Cluster, Progress
from harness.core.identity import ProcessIdentity
from harness.errors import ClusterError, ConfigError

#: How the folder of a named control plane begins.
PREFIX = "plane-"

#: A name is a part of a folder's and of a Kubernetes label's.
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A named control plane, as it is now.

    Attributes:
        name: What a person calls it.
        state: `running`, `starting`, or `ended`.
        why: Why it ended; empty where it did not, or nobody could say.
        server: Address of its API server; empty until it runs.
        kubeconfig: The admin's; there once it runs.
        nodes: How many nodes it has.
        uptime_s: Seconds since its supervisor was started; 0 when it ended.
        versions: Component to version.
        pids: Process to pid, the supervisor included.
        memory_bytes: Memory of all of them.
        path: Its folder.
    """

    name: str
    state: str
    why: str
    server: str
    kubeconfig: Path
    nodes: int
    uptime_s: float
    versions: Mapping[str, str]
    pids: Mapping[str, int]
    memory_bytes: int
    path: Path


def start(
    home: Path,
    name: str,
    *,
    nodes: int | None,
    ensure: Callable[[int], Mapping[str, Path]],
    progress: Progress,
) -> Cluster:
    """Start a control plane, or return the one of that name. Idempotent.

    Args:
        home: Folder of the harness's state.
        name: What to call it.
        nodes: How many nodes without containers it has; None is none, or what the one there has.
        ensure: Returns name to path of the programs for so many nodes.
        progress: Told what takes long.

    Raises:
        ClusterError: It did not come up, or the one there has another number of nodes.
        ConfigError: The name or the number will not do.
    """
    folder = _folder(name)
    if nodes is not None and not 0 <= nodes <= MOST_NODES:
        msg = f"{nodes} nodes, between 0 and {MOST_NODES} expected"
        raise ConfigError(msg)
    cluster = find_provisioned(home, folder)
    if cluster is None:
        wanted = nodes or 0
        binaries = ensure(wanted)
        progress(f"starting the control plane {name}")
        cluster = provision(
            home,
            name=folder,
            binaries=binaries,
            webhook_argv=None,
            nodes=wanted,
            progress=progress,
        )
    there = nodes_of(cluster.state_dir)
    if nodes is not None and nodes != there:
        msg = f"the control plane {name!r} runs with {there} nodes, {nodes} asked for"
        raise ClusterError(msg, hint=f"run `strandline cluster stop --name {name}` first")
    return cluster


def stop(home: Path, name: str) -> bool:
    """End a control plane and remove its folder; tell whether there was one. Idempotent.

    Raises:
        TeardownError: Something of it is still there.
    """
    folder = _folder(name)
    there = state_dir_of(home, folder).is_dir()
    teardown(home, folder)
    return there


def find(home: Path, name: str) -> Cluster:
    """Return the control plane of a name that runs.

    Raises:
        ClusterError: There is none.
    """
    cluster = find_provisioned(home, _folder(name))
    if cluster is None:
        msg = f"no control plane {name!r} below {home}"
        raise ClusterError(msg, hint=f"run `strandline cluster start --name {name}` first")
    return cluster


def names(home: Path) -> tuple[str, ...]:
    """Return the names of all that have a folder, in their order."""
    clusters = clusters_dir(home)
    if not clusters.is_dir():
        return ()
    return tuple(sorted(one.name.removeprefix(PREFIX) for one in clusters.glob(f"{PREFIX}*")))


def describe(home: Path, name: str) -> Described | None:
    """Return what a control plane is now; None when there is none of that name."""
    state_dir = state_dir_of(home, _folder(name))
    ledger = read_ledger(state_dir)
    if ledger is None:
        return None
    cluster = find_provisioned(home, state_dir.name)
    alive = {"supervisor": ledger.owner, **ledger.processes}
    processes = {label: one for label, one in alive.items() if one.alive}
    state = "running" if cluster else "starting" if ledger.owner.alive else "ended"
    return Described(
        name=name,
        state=state,
        why=(why_ended(state_dir) or "") if state == "ended" else "",
        server=cluster.server if cluster else "",
        kubeconfig=state_dir / "kubeconfig",
        nodes=nodes_of(state_dir),
        uptime_s=age_s(ledger.owner, boot_s=_since_boot_s()) if ledger.owner.alive else 0.0,
        versions=dict(cluster.versions) if cluster else {},
        pids={label: one.pid for label, one in processes.items()},
        memory_bytes=sum(_memory_bytes(one.pid) for one in processes.values()),
        path=state_dir,
    )


def age_s(process: ProcessIdentity, *, boot_s: float) -> float:
    """Return the seconds for which a process has been there, whatever the wall clock did. Pure.

    Args:
        process: Whose age.
        boot_s: Seconds since the machine was booted.
    """
    return max(0.0, boot_s - process.started_ticks / _TICKS_A_SECOND)


def _folder(name: str) -> str:
    if not _NAME.fullmatch(name):
        msg = f"name {name!r}: up to 40 lower-case letters, digits and dashes between them expected"
        raise ConfigError(msg)
    return f"{PREFIX}{name}"


def _since_boot_s() -> float:
    return float(Path("/proc/uptime").read_text().split()[0])


def _memory_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    except OSError:  # it ended while we looked
        return 0
