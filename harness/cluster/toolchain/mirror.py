"""A filesystem mirror that serves the Terraform provider to Terraform and to OpenTofu.

Owns its layout. Called by `Toolchain`, which knows the provider and the place.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from harness.cluster.toolchain.binaries import (
    PROVIDER_ADDRESS,
    PROVIDER_BINARY,
    PROVIDER_HOSTS,
    Version,
    go_platform,
)
from harness.core.files import sha256_hex


def ensure_mirror(cache_dir: Path, binary: Path, version: Version) -> Path:
    """Return the mirror's folder below `cache_dir`; it appears whole. Idempotent.

    It serves both hosts, so that Terraform and OpenTofu find the same file.

    Raises:
        OSError: It is not there, and cannot be written.
    """
    digest = sha256_hex(binary.read_bytes())[:12]
    mirror = cache_dir / f"mirror-{version}-{digest}"
    if not mirror.is_dir():
        temporary = Path(tempfile.mkdtemp(dir=cache_dir, prefix=".mirror."))
        try:
            for host in PROVIDER_HOSTS:
                folder = temporary / host / PROVIDER_ADDRESS / str(version) / go_platform()
                folder.mkdir(parents=True)
                _link_or_copy(binary, folder / f"{PROVIDER_BINARY}_v{version}")
            temporary.chmod(0o755)
            _rename_unless_there(temporary, mirror)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return mirror


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one that has no hard links
        shutil.copy2(source, target)


def _rename_unless_there(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError:
        if not target.is_dir():  # not the race with another process that made the same
            raise
