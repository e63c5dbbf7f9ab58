"""What a measurement was made with and on: versions, cores, how busy the machine was.

Reads this machine; names neither it nor its user. Called by `python -m benchmarks`.
"""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.peer_builds import PEERS, peer_version
from benchmarks.workbench import ROOT, Workbench
from harness import __version__
from harness.core.process import run, scrubbed_environment
from harness.errors import PrerequisiteError

#: Seconds for git to answer; it takes 10 ms.
_GIT_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How busy the machine was over the last 1, 5 and 15 minutes: running processes."""

    one_minute: float
    five_minutes: float
    fifteen_minutes: float


def read_load() -> Load:
    """Return how busy the machine is."""
    one, five, fifteen = (round(value, 2) for value in os.getloadavg())
    return Load(one_minute=one, five_minutes=five, fifteen_minutes=fifteen)


def describe_machine(*, before: Load, after: Load) -> dict[str, Any]:
    """Return what the machine is, and how busy it was before and after."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": _processor(),
        "memory_gib": round(memory_bytes / 2**30, 1),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load_before": asdict(before),
        "load_after": asdict(after),
    }


def read_versions(bench: Workbench) -> dict[str, str]:
    """Return name to version of everything that had a part in the figures."""
    go, _ = bench.toolchain.find_go()
    kubernetes, etcd = (bench.toolchain.find(name) for name in ("kube-apiserver", "etcd"))
    return {
        "strandline": f"{__version__} at {_commit()}",
        "kubernetes": str(kubernetes.version) if kubernetes else "none",
        "etcd": str(etcd.version) if etcd else "none",
        bench.engine.name: bench.engine.version,
        **{PEERS[name].rpartition("/")[2]: peer_version(name) for name in PEERS},
        "go": str(go.version) if go else "none",
        "python": platform.python_version(),
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _commit() -> str:
    """Return the commit of the checkout, with a plus where files differ from it."""
    try:
        ended = run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
            env=scrubbed_environment({}),
            cwd=ROOT,
            timeout_s=_GIT_TIMEOUT_S,
        )
    except PrerequisiteError:
        return "no commit"
    return ended.stdout.strip() if ended.returncode == 0 else "no commit"
