"""The lowest layer of the lab image: Python and the libraries that it needs, from Debian packages.

Owns which packages and what of them stays; no shell, no package manager. Also compiles what goes on
top with that very Python, without root and without a container. Called by whoever makes the image.
"""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

from harness.cluster.images.debian import ensure_rootfs, rootfs_path
from harness.cluster.images.lab_library import PYTHON
from harness.cluster.images.layer import Copied, Made, write_layer
from harness.cluster.images.long_commands import Progress, Runs, run_long
from harness.core.files import sha256_hex
from harness.core.scratch import make_scratch, remove_scratch
from harness.errors import PrerequisiteError

#: Python with its whole standard library; C library, OpenSSL, zlib come along.
_PACKAGES = (f"python{PYTHON}", f"libpython{PYTHON}-stdlib")

#: What no process of the laboratory reads: documentation of packages, their manager, character
#: sets, and the parts of the standard library that are for people.
_CUT = (
    *("usr/share", "var/lib/dpkg", "var/lib/apt", "var/cache", "var/log", "etc/apt", "etc/dpkg"),
    *("etc/systemd", "etc/init.d", "lib/systemd", "lib/udev", "usr/sbin", "sbin", "usr/libexec"),
    *("usr/lib/*/gconv", "usr/lib/*/perl*", "usr/lib/dpkg", "usr/lib/apt", "usr/lib/mime"),
    *("usr/lib/python3.11/ensurepip", "usr/lib/python3.11/lib2to3", "usr/lib/python3.11/test"),
    *("usr/lib/python3.11/pydoc_data", "usr/lib/python3.11/unittest", "usr/lib/python3.11/curses"),
    *(
        "usr/lib/python3.11/distutils",
        "usr/lib/python3.11/tkinter",
        "usr/lib/python3.11/turtledemo",
    ),
    *("usr/lib/python3.11/config-3.11-*", "usr/lib/python3.11/idlelib", "usr/lib/python3.11/venv"),
)

#: User of the processes, in the image's own list of users. The number is what pods ask for.
USER_ID = 65532
_PASSWD = f"root:x:0:0:root:/:/none\nlab:x:{USER_ID}:{USER_ID}:lab:/:/none\n"
_GROUP = f"root:x:0:\nlab:x:{USER_ID}:\n"

#: Seconds to compile 1000 modules on two busy cores; it takes 5 to 15 s.
_COMPILE_TIMEOUT_S = 300.0


def base_key(cache_dir: Path) -> str:
    """Return what decides the layer's content, as 12 digits. Pure but for this file."""
    rootfs = rootfs_path("lab", _PACKAGES, cache_dir, variant="extract").name
    return sha256_hex(rootfs.encode() + Path(__file__).read_bytes())[:12]


def base_path(cache_dir: Path) -> Path:
    """Return where the layer is kept."""
    return cache_dir / f"lab-base-{base_key(cache_dir)}.tar"


def ensure_base(cache_dir: Path, progress: Progress) -> Path:
    """Return the layer; make it when it is not kept yet. Idempotent and atomic.

    Raises:
        PrerequisiteError: The Debian packages cannot be had, or this is not root.
    """
    path = base_path(cache_dir)
    if path.is_file():
        return path
    rootfs = ensure_rootfs("lab", _PACKAGES, cache_dir, progress, variant="extract")
    scratch = make_scratch("labbase", parent_dir=cache_dir)
    try:
        root = scratch / "root"
        unpack(rootfs, root)
        for pattern in _CUT:
            for found in sorted(root.glob(pattern)):
                remove(found)
        library = root / "usr" / "lib" / f"python{PYTHON}"
        compile_library(root, library, shown_as=f"/usr/lib/python{PYTHON}", progress=progress)
        made = scratch / "layer.tar"
        write_layer(
            made,
            [
                Copied(source=root, destination="/"),
                Made(destination="/usr/bin/python3", target=f"python{PYTHON}"),
                Made(destination="/etc/passwd", content=_PASSWD.encode()),
                Made(destination="/etc/group", content=_GROUP.encode()),
                Made(destination="/tmp", mode=0o1777),  # noqa: S108 - a folder of the image
            ],
        )
        made.replace(path)
    finally:
        remove_scratch(scratch)
    return path


def unpack(tar_path: Path, folder: Path) -> None:
    """Unpack a tar that we made into a folder, as whoever we are; it holds no devices."""
    folder.mkdir()
    with tarfile.open(tar_path) as tar:
        # The attribute is the way to ask that Pythons without filters understand too.
        tar.extraction_filter = getattr(tarfile, "tar_filter", lambda member, _: member)
        tar.extractall(folder)  # noqa: S202 - its members come from Debian packages, or from us


def remove(path: Path) -> None:
    """Remove a file, a link or a tree."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def compile_library(
    root: Path, folder: Path, *, shown_as: str, progress: Progress, runs: Runs = run_long
) -> None:
    """Compile every module of a folder with the Python of a root file system, for good.

    Its bytecode is never compared with the source: neither can change in an image. The loader is
    called by hand, so that this needs neither root nor a container.

    Args:
        root: An unpacked base.
        folder: What to compile.
        shown_as: Path of the folder in the image, for tracebacks.
        progress: Told what goes on.
        runs: Runs a command to its end.

    Raises:
        PrerequisiteError: The root file system has no loader, or a module does not compile.
    """
    loader = next(root.glob("lib*/ld-linux-*.so.*"), None)
    if loader is None:
        msg = f"{root}: no dynamic loader in the lab image's base"
        raise PrerequisiteError(msg, hint="remove the root file systems from the cache, try again")
    libraries = sorted((*root.glob("lib/*-linux-*"), *root.glob("usr/lib/*-linux-*")))
    runs(
        [
            *(str(loader), "--library-path", ":".join(str(path) for path in libraries)),
            *(
                str(root / "usr" / "bin" / f"python{PYTHON}"),
                "-s",
                "-S",
                "-m",
                "compileall",
                "-q",
                "-f",
            ),
            *("--invalidation-mode", "unchecked-hash", "-s", str(folder), "-p", shown_as),
            str(folder),
        ],
        # What the compiler itself imports would be written with a time stamp, and be left so.
        env={
            "PYTHONHOME": str(root / "usr"),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LC_ALL": "C.UTF-8",
        },
        what=f"compiling {shown_as}",
        timeout_s=_COMPILE_TIMEOUT_S,
        progress=progress,
    )
