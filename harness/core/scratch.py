"""Temporary folders that say whose they are, so that what a killed process left can be found.

The name holds pid and start time of the maker; a folder whose maker is gone may be removed by
anybody. Called where a folder must lie outside of the harness's own home.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.core.identity import ProcessIdentity, identify
from harness.errors import TeardownError

_PRIVATE_DIR_MODE = 0o700

_NAME = re.compile(r"strandline-[a-z]+-(?P<pid>\d+)\.(?P<ticks>\d+)-")


def make_scratch(kind: str, *, parent_dir: Path | None = None) -> Path:
    """Make a folder, 0700, that is the caller's to remove.

    Args:
        kind: What it is for, one word.
        parent_dir: Where to make it; None is the system's folder for temporary files.
    """
    owner = identify(os.getpid())
    if owner is None:  # pragma: no cover - this process is alive
        raise AssertionError
    prefix = f"strandline-{kind}-{owner.pid}.{owner.started_ticks}-"
    return Path(tempfile.mkdtemp(prefix=prefix, dir=parent_dir)).resolve()


@contextmanager
def scratch_folder(kind: str) -> Iterator[Path]:
    """Give a folder, 0700, that is gone after the block."""
    folder = make_scratch(kind)
    try:
        yield folder
    finally:
        remove_scratch(folder)


def remove_scratch(root: Path) -> None:
    """Remove a tree in which somebody may have taken rights away. Idempotent.

    Raises:
        TeardownError: Something of it could not be removed.
    """
    for folder, names, _ in os.walk(root):
        # Top down, so that a folder is opened before it is listed; links are not followed.
        for name in names:
            path = Path(folder, name)
            with suppress(OSError):
                if not path.is_symlink():
                    path.chmod(_PRIVATE_DIR_MODE)
    shutil.rmtree(root, ignore_errors=True)
    if root.exists():
        raise TeardownError((f"folder {root}",), hint="remove the folder by hand")


def abandoned_scratch(parent_dir: Path | None = None) -> tuple[Path, ...]:
    """Return the folders of this user whose makers are gone, sorted by name."""
    found = []
    for path in (parent_dir or Path(tempfile.gettempdir())).glob("strandline-*"):
        name = _NAME.match(path.name)
        if name is None:
            continue
        owner = ProcessIdentity(pid=int(name["pid"]), started_ticks=int(name["ticks"]))
        if not owner.alive and not path.is_symlink() and path.stat().st_uid == os.getuid():
            found.append(path)
    return tuple(sorted(found))
