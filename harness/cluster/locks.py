"""One process at a time: a lock file that the kernel lets go of when its holder dies.

Called round a build and round the start of a provisioned cluster.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from harness.core.waiting import wait_until

#: File of a home that whoever starts or ends its one provisioned cluster holds.
PROVISION_LOCK = "provision.lock"


@contextmanager
def locked(
    path: Path, *, what: str, timeout_s: float, progress: Callable[[str], None]
) -> Iterator[None]:
    """Hold an exclusive lock on a file; wait for whoever has it, and say so once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def attempt() -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    try:
        if not attempt():
            progress(f"waiting for another process that is making {what}")
            wait_until(attempt, bool, what=f"lock {path}", timeout_s=timeout_s, interval_s=0.2)
        yield
    finally:
        os.close(handle)


def provisioning(
    home: Path, *, timeout_s: float, progress: Callable[[str], None]
) -> AbstractContextManager[None]:
    """Hold the right to start or end the provisioned cluster of a home."""
    return locked(
        home / PROVISION_LOCK,
        what="a provisioned cluster",
        timeout_s=timeout_s,
        progress=progress,
    )
