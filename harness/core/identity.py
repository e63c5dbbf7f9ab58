"""Which process is meant: a pid alone is given again to another one."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """A process that cannot be mistaken for a later one with the same pid.

    Attributes:
        pid: Process id.
        started_ticks: Start time in clock ticks since boot, from /proc/PID/stat field 22.
    """

    pid: int
    started_ticks: int

    @property
    def alive(self) -> bool:
        """Whether this very process is still there."""
        return identify(self.pid) == self

    def signal(self, number: int) -> None:
        """Send a signal to this very process, or do nothing when it is gone."""
        if self.alive:
            with suppress(ProcessLookupError):  # it may end in between
                os.kill(self.pid, number)


def identify(pid: int) -> ProcessIdentity | None:
    """Return the identity of a live process; None when there is none, or only a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat.rpartition(b")")[2].split()
    if fields[0] == b"Z":
        return None
    return ProcessIdentity(pid=pid, started_ticks=int(fields[19]))
