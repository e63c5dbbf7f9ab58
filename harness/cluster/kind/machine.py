"""What this machine is, as far as a container engine and a node care. Looks; changes nothing.

Called by the search for an engine and by the doctor.
"""

from __future__ import annotations

import os
import resource
import shutil
from dataclasses import dataclass
from pathlib import Path

#: Bit of CAP_SYS_RESOURCE in a capability mask. Source: linux/capability.h.
_CAP_SYS_RESOURCE = 24

_INOTIFY = Path("/proc/sys/fs/inotify")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What was found.

    Attributes:
        is_root: Whether this process may do what root may.
        may_raise_limits: Whether it has CAP_SYS_RESOURCE.
        open_files_hard: Hard limit of open files; None is unlimited.
        processes_hard: Hard limit of processes; None is unlimited.
        pid_max: Highest pid of the kernel.
        systemd: Whether systemd is the init of this machine.
        cgroup_v1: Whether controllers are mounted the old way.
        memory_bytes: Memory that can be had.
        inotify_instances: Limit of inotify instances of a user.
        inotify_watches: Limit of inotify watches of a user.
        runc: Where runc is; None where it is not.
        netavark: Where podman's network program is; None where it is not.
        cni_bridge: Where the plug-in of podman's older networks is; None where it is not.
    """

    is_root: bool
    may_raise_limits: bool
    open_files_hard: int | None
    processes_hard: int | None
    pid_max: int
    systemd: bool
    cgroup_v1: bool
    memory_bytes: int
    inotify_instances: int
    inotify_watches: int
    runc: Path | None
    netavark: Path | None
    cni_bridge: Path | None


def look(path: str | None = None) -> Machine:
    """Look at this machine.

    Args:
        path: Folders to find programs in; None means the caller's PATH.
    """
    return Machine(
        is_root=os.geteuid() == 0,
        may_raise_limits=bool(_effective_capabilities() >> _CAP_SYS_RESOURCE & 1),
        open_files_hard=_hard_limit(resource.RLIMIT_NOFILE),
        processes_hard=_hard_limit(resource.RLIMIT_NPROC),
        pid_max=_number(Path("/proc/sys/kernel/pid_max")),
        systemd=Path("/run/systemd/system").is_dir(),
        cgroup_v1=not Path("/sys/fs/cgroup/cgroup.controllers").exists(),
        memory_bytes=_available_memory(Path("/proc/meminfo").read_text()),
        inotify_instances=_number(_INOTIFY / "max_user_instances"),
        inotify_watches=_number(_INOTIFY / "max_user_watches"),
        runc=_program("runc", path),
        # podman keeps its own programs off PATH.
        netavark=_first("/usr/libexec/podman", "/usr/lib/podman", name="netavark"),
        cni_bridge=_first("/usr/libexec/cni", "/usr/lib/cni", "/opt/cni/bin", name="bridge"),
    )


def _effective_capabilities() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def _hard_limit(kind: int) -> int | None:
    hard = resource.getrlimit(kind)[1]
    return None if hard == resource.RLIM_INFINITY else hard


def _number(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0


def _available_memory(meminfo: str) -> int:
    for line in meminfo.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def _program(name: str, path: str | None) -> Path | None:
    found = shutil.which(name, path=path)
    return Path(found) if found else None


def _first(*folders: str, name: str) -> Path | None:
    return next((Path(one, name) for one in folders if Path(one, name).is_file()), None)
