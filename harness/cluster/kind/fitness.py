"""Why an engine cannot run a node on a machine, and what to do about it. Pure but for free disk.

Called by the search for an engine.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.kind.machine import Machine

#: Free bytes where the engine keeps its images. Measured: the node image takes 1.0 GB and its
#: archive on the way in another, a node's own /var 1.2 GB, our image 0.2 GB.
FREE_BYTES = 4 * 1024**3

#: Memory for one node, in bytes; measured: 1.6 GB with the control plane and our pods.
MEMORY_BYTES = 2 * 1024**3

#: Limits below which a node's kubelet or its pods cannot watch files: `too many open files`. The
#: kernel's defaults are the ones under which one node was seen to work.
INOTIFY_INSTANCES = 128
INOTIFY_WATCHES = 8192

#: podman from which on a container can be removed without a wait for its shutdown.
_PODMAN_MAJOR = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineAnswer:
    """What an engine says of itself.

    Attributes:
        name: `docker` or `podman`.
        error: Why it does not answer; empty when it does.
        cgroup_v1: Whether it runs on control groups of the old kind.
        rootless: Whether it runs without root's rights.
        runtime: What starts its containers; empty where it does not matter.
        network_backend: podman's: `netavark` or `cni`.
        version: podman's own; empty where it does not matter.
        store: Where it keeps its images; None where this machine cannot see it.
    """

    name: str
    error: str = ""
    cgroup_v1: bool = False
    rootless: bool = False
    runtime: str = ""
    network_backend: str = ""
    version: str = ""
    store: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why not.

    Attributes:
        why: What was found.
        fix: One imperative.
    """

    why: str
    fix: str


def free_disk(folder: Path) -> int:
    """Return the free bytes of a folder's file system."""
    return shutil.disk_usage(folder).free


def reasons_against(
    answer: EngineAnswer, machine: Machine | None, *, free_bytes: Callable[[Path], int] = free_disk
) -> tuple[Reason, ...]:
    """Return every reason for which a node cannot run; none when one can.

    Args:
        answer: What the engine says.
        machine: Where it runs; None where no node is to be made.
        free_bytes: Tells the free bytes at a folder.
    """
    if answer.error:
        return (_no_answer(answer),)
    if machine is None:
        return ()
    free = free_bytes(answer.store) if answer.store else FREE_BYTES
    return (
        *_control_groups(answer),
        *_networks(answer, machine),
        *_versions(answer),
        *_too_little("inotify instances", machine.inotify_instances, INOTIFY_INSTANCES),
        *_too_little("inotify watches", machine.inotify_watches, INOTIFY_WATCHES),
        *_too_small("memory", machine.memory_bytes, MEMORY_BYTES, "end what is not needed"),
        *_too_small(f"disk at {answer.store}", free, FREE_BYTES, "free some disk"),
    )


def _no_answer(answer: EngineAnswer) -> Reason:
    text = answer.error.lower()
    if "permission denied" in text:
        fix = f"add this user to the group that may use {answer.name}, or run as root"
    elif "daemon" in text or "connect" in text:
        fix = f"start the {answer.name} daemon"
    else:
        fix = f"repair {answer.name}: `{answer.name} info` must work"
    return Reason(why=answer.error, fix=fix)


def _control_groups(answer: EngineAnswer) -> tuple[Reason, ...]:
    if not answer.cgroup_v1:
        return ()
    if answer.rootless:
        why = "without root's rights a node needs cgroup v2, and this machine has v1"
        return (Reason(why=why, fix=f"run {answer.name} as root"),)
    if answer.name == "podman" and answer.runtime == "crun":
        why = "crun does not run a node on cgroup v1, and runc is not there"
        return (Reason(why=why, fix="install runc"),)
    return ()


def _networks(answer: EngineAnswer, machine: Machine) -> tuple[Reason, ...]:
    if answer.network_backend == "cni" and machine.cni_bridge is None:
        why = "podman has no network program: neither netavark nor the CNI plug-ins"
        return (Reason(why=why, fix="install netavark"),)
    return ()


def _versions(answer: EngineAnswer) -> tuple[Reason, ...]:
    major = answer.version.partition(".")[0]
    if not major.isdigit() or int(major) >= _PODMAN_MAJOR:
        return ()
    why = f"podman {answer.version}, {_PODMAN_MAJOR} or newer needed"
    return (Reason(why=why, fix="install a newer podman, or Docker"),)


def _too_little(what: str, found: int, needed: int) -> tuple[Reason, ...]:
    name = f"fs.inotify.max_user_{what.split()[1]}"
    if not found or found >= needed:  # 0: the kernel does not say
        return ()
    why = f"{found} {what}, {needed} needed"
    return (Reason(why=why, fix=f"run sysctl -w {name}={needed}"),)


def _too_small(what: str, found: int, needed: int, fix: str) -> tuple[Reason, ...]:
    if found >= needed:
        return ()
    why = f"{found / 1024**3:.1f} GiB of {what}, {needed / 1024**3:.1f} GiB needed"
    return (Reason(why=why, fix=fix),)
