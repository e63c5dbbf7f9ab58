"""Debian root file systems, made by mmdebstrap and kept as tar files.

Owns how mmdebstrap is called: in a mount namespace of its own, so that whatever it mounts ends with
it, also when it is killed. Refuses to know what a file system is for. Called by whoever builds an
image.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.cluster.images.long_commands import Progress, Runs, run_long
from harness.cluster.images.places import remove_abandoned, remove_outdated
from harness.cluster.locks import locked
from harness.cluster.toolchain.binaries import go_platform
from harness.core.files import PUBLIC_MODE, canonical_json, sha256_hex
from harness.core.process import scrubbed_environment
from harness.core.scratch import make_scratch, remove_scratch
from harness.errors import PrerequisiteError

#: Release whose packages go into images: it decides which Python a pod has.
SUITE = "bookworm"

#: Programs that must be there, and the Debian package that has each.
TOOLS: Mapping[str, str] = {
    "mmdebstrap": "mmdebstrap",
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
    "unshare": "util-linux",
}

#: Longest making of one file system, in seconds. 250 MB of packages took 46 to 76 s; a slow line
#: gets fifteen times that.
TIMEOUT_S = 1200.0

#: What nobody reads in an image.
_LEFT_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")

#: Files that say something about the machine that made the image, or when.
_FOREIGN = (
    *("etc/hostname", "etc/resolv.conf", "etc/machine-id", "etc/apt/sources.list.d/*"),
    *("etc/apt/sources.list", "etc/apt/apt.conf.d/99mmdebstrap", "var/log/*.log", "var/log/apt/*"),
    *("var/cache/ldconfig/aux-cache", "var/lib/dpkg/*-old"),
    "var/cache/debconf/*-old",
)

#: Time stamp of every file, so that the same packages are the same bytes: 2020-01-01.
_EPOCH_S = 1577836800

#: How many file systems of one name are kept. The one before is what another checkout may use.
_KEPT = 2

#: What apt reads from the environment.
_ENVIRONMENT = ("PATH", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR")


def rootfs_path(name: str, packages: Sequence[str], cache_dir: Path, *, variant: str) -> Path:
    """Return where a root file system is kept; another list of packages is another path. Pure."""
    parts = [SUITE, go_platform(), variant, sorted(set(packages)), _LEFT_OUT, _FOREIGN, _EPOCH_S]
    return cache_dir / f"rootfs-{name}-{sha256_hex(canonical_json(parts))[:12]}.tar"


def ensure_rootfs(
    name: str,
    packages: Sequence[str],
    cache_dir: Path,
    progress: Progress,
    *,
    variant: str = "minbase",
) -> Path:
    """Return a tar of a root file system with these packages; make it when it is not kept yet.

    Idempotent, atomic, and done once when two processes want it. It holds no device nodes.

    Args:
        name: What it is for, one word.
        packages: Debian packages beside what the variant has; dependencies come along.
        cache_dir: Folder where it is kept.
        progress: Told what goes on, at least every 10 s.
        variant: mmdebstrap's. `minbase` is a Debian that can install more; `extract` is the files
            of the packages alone, in which no maintainer script has run.

    Raises:
        PrerequisiteError: Not root, a program is missing, or the packages could not be had.
    """
    path = rootfs_path(name, packages, cache_dir, variant=variant)
    if path.is_file():
        return path
    require_root(os.geteuid(), what=f"the root file system {name!r}")
    require_tools(TOOLS)
    with locked(path.with_suffix(".lock"), what=path.stem, timeout_s=TIMEOUT_S, progress=progress):
        if not path.is_file():
            remove_abandoned(cache_dir)
            make_rootfs(name, packages, path, variant=variant, progress=progress)
            remove_outdated(cache_dir, f"rootfs-{name}-*.tar", keep=path, count=_KEPT)
    return path


def make_rootfs(
    name: str,
    packages: Sequence[str],
    path: Path,
    *,
    variant: str,
    progress: Progress,
    runs: Runs = run_long,
) -> None:
    """Make one root file system at `path`, whole or not at all.

    Raises:
        PrerequisiteError: The packages could not be had.
    """
    scratch = make_scratch("rootfs", parent_dir=path.parent)
    try:
        made = scratch / "rootfs.tar"
        sources = own_sources(Path("/etc"))
        runs(
            mmdebstrap_argv(packages, made, variant=variant, sources=sources),
            env=scrubbed_environment(
                {"TMPDIR": str(scratch), "LC_ALL": "C", "SOURCE_DATE_EPOCH": str(_EPOCH_S)},
                keep=_ENVIRONMENT,
            ),
            what=f"making the root file system {name}",
            timeout_s=TIMEOUT_S,
            progress=progress,
        )
        made.chmod(PUBLIC_MODE)
        made.replace(path)
    finally:
        remove_scratch(scratch)


def mmdebstrap_argv(
    packages: Sequence[str], target: Path, *, variant: str, sources: Path | None
) -> list[str]:
    """Return the command that makes one file system. Pure.

    Args:
        packages: What to include.
        target: The tar to write.
        variant: mmdebstrap's variant.
        sources: Package sources to use; None means those that mmdebstrap knows for the release.
    """
    foreign = " ".join(f'"$1"/{pattern}' for pattern in _FOREIGN)
    return [
        # What it mounts (proc, sys, dev) is seen by nobody else and ends with its last process.
        *("unshare", "--mount", "--propagation", "private", "--"),
        *("mmdebstrap", "--mode=root", f"--variant={variant}", "--format=tar"),
        # A container gets its own; making them needs a right that an importer may lack.
        "--skip=output/dev",
        f"--include={','.join(sorted(set(packages)))}",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in _LEFT_OUT),
        '--aptopt=Acquire::http::Timeout "60"',
        '--aptopt=Acquire::Retries "3"',
        # Only the files are unpacked in that variant, so the hooks that follow are never called.
        f"--{'extract' if variant == 'extract' else 'customize'}-hook=rm -f {foreign}",
        *(SUITE, str(target), *([str(sources)] if sources else [])),
    ]


def own_sources(etc: Path) -> Path | None:
    """Return this machine's own package sources; None when it is not of our release.

    They are the ones that work here: a mirror in the house, a proxy, a snapshot.
    """
    release = etc / "os-release"
    if not release.is_file() or f"VERSION_CODENAME={SUITE}" not in release.read_text().split():
        return None
    candidates = [etc / "apt" / "sources.list.d" / "debian.sources", etc / "apt" / "sources.list"]
    return next((path for path in candidates if path.is_file() and path.stat().st_size), None)


def require_root(user_id: int, *, what: str) -> None:
    """Refuse to go on as another user than root.

    Raises:
        PrerequisiteError: `user_id` is not 0.
    """
    if user_id != 0:
        msg = f"{what} can be made by root only (owners of files, mounts); this is user {user_id}"
        raise PrerequisiteError(msg, hint="run it with sudo, or on a machine where you are root")


def can_make_rootfs(user_id: int, *, which: Callable[[str], str | None] = shutil.which) -> bool:
    """Tell whether `ensure_rootfs` would find what it needs: root, and its programs."""
    return user_id == 0 and all(which(name) for name in TOOLS)


def require_tools(
    tools: Mapping[str, str], *, which: Callable[[str], str | None] = shutil.which
) -> None:
    """Refuse to go on without a program, and name the Debian package of each.

    Args:
        tools: Program to Debian package.
        which: Tells where a program is.

    Raises:
        PrerequisiteError: At least one is not on PATH; all of them are named.
    """
    missing = [name for name in tools if which(name) is None]
    if missing:
        named = ", ".join(f"{name} (Debian package {tools[name]})" for name in missing)
        packages = " ".join(dict.fromkeys(tools[name] for name in missing))
        msg = f"not on PATH: {named}"
        raise PrerequisiteError(msg, hint=f"run apt-get install --no-install-recommends {packages}")
