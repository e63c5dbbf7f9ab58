"""Nodes that run although podman no longer knows it: found by the process that holds them.

When podman's folder of run-time state is lost, it takes that for a restart of the machine: it lists
every container as never started, and removing one leaves its processes. Called when a node is
removed, for that node alone.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from harness.cluster.home import end_processes
from harness.core.identity import identify

#: Seconds for the processes of a node to be gone after a signal.
_END_TIMEOUT_S = 5.0


def end_unknown(name: str, *, proc_dir: Path = Path("/proc")) -> tuple[str, ...]:
    """End the processes of a container by its name; return what is still there. Idempotent."""
    monitors = monitors_of(name, proc_dir=proc_dir)
    pids = [*(child for pid in monitors for child in _children(pid, proc_dir)), *monitors]
    found = {f"process {pid} of {name}": one for pid in pids if (one := identify(pid))}
    return tuple(end_processes(found, timeout_s=_END_TIMEOUT_S)) if found else ()


def monitors_of(name: str, *, proc_dir: Path = Path("/proc")) -> tuple[int, ...]:
    """Return the pids of the processes of podman that hold a container of this name, sorted."""
    found = []
    for path in proc_dir.glob("[0-9]*/cmdline"):
        with suppress(OSError):
            argv = path.read_bytes().decode(errors="replace").split("\0")
            if Path(argv[0]).name == "conmon" and ("-n", name) in pairwise(argv):
                found.append(int(path.parent.name))
    return tuple(sorted(found))


def _children(pid: int, proc_dir: Path) -> list[int]:
    try:
        text = (proc_dir / str(pid) / "task" / str(pid) / "children").read_text()
    except OSError:
        return []
    return [int(child) for child in text.split()]
