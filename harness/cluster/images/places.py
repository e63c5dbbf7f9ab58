"""Where image archives are kept, and what builds that were killed left there.

Called by whoever makes, loads or removes an archive.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from harness.cluster.toolchain import default_cache_dir
from harness.core.scratch import abandoned_scratch, remove_scratch
from harness.errors import TeardownError


def default_images_dir(environ: Mapping[str, str]) -> Path:
    """Return `$XDG_CACHE_HOME/strandline/images`. Pure but for the home directory."""
    return default_cache_dir(environ).with_name("images")


def remove_abandoned(images_dir: Path) -> tuple[Path, ...]:
    """Remove the scratch folders of builds whose process is gone; return those that were there.

    One that cannot be removed stays, for the next time: a build can go on without.
    """
    folders = abandoned_scratch(images_dir)
    for folder in folders:
        with suppress(TeardownError):
            remove_scratch(folder)
    return folders


def remove_outdated(images_dir: Path, pattern: str, *, keep: Path, count: int) -> None:
    """Remove all but the newest `count` archives that match, never `keep`, each with its record.

    Lock files stay: whoever waits for one would else hold another file than the next.
    """
    for path in outdated(images_dir, pattern, keep=keep, count=count):
        path.unlink(missing_ok=True)
        path.with_suffix(".json").unlink(missing_ok=True)


def outdated(images_dir: Path, pattern: str, *, keep: Path, count: int) -> list[Path]:
    """Return the archives that `remove_outdated` removes, newest first."""
    newest_first = sorted(
        images_dir.glob(pattern), key=lambda path: path.stat().st_mtime_ns, reverse=True
    )
    return [path for path in newest_first if path != keep][count - 1 :]
