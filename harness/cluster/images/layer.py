"""One layer of a container image: a tar file that is the same bytes for the same content.

Entries are placed in the order of their destinations; times are zero and, unless asked otherwise,
everything belongs to root. Refuses to know what a layer is for. Called by the archive writer and by
whoever keeps layers in the cache.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from harness.errors import ConfigError

#: GNU tar headers: no time stamps in extended headers, names and files of any length, read by
#: Docker, podman and containerd alike.
FORMAT = tarfile.GNU_FORMAT

#: Mode of a folder that exists only because something lies below it.
_PARENT_MODE = 0o755


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """A file, link or whole folder of this machine.

    Attributes:
        source: Where it is now.
        destination: Absolute path in the image; `/` places a folder's content at the root.
        keep_owner: Whether numeric owners stay as they are; else everything is root's.
        leave_out: Paths relative to `source` whose content is left out; the folder itself stays.
    """

    source: Path
    destination: str
    keep_owner: bool = False
    leave_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A file, folder or link that is on no disk.

    Attributes:
        destination: Absolute path in the image.
        content: Bytes of a file; None makes a folder.
        target: What a symbolic link points to; None unless it is one.
        mode: Permissions; None means 0644 for a file and 0755 for a folder.
    """

    destination: str
    content: bytes | None = None
    target: str | None = None
    mode: int | None = None


Entry: TypeAlias = Copied | Made


def write_layer(path: Path, entries: Sequence[Entry]) -> None:
    """Write one layer as an uncompressed tar. Deterministic; not atomic, the caller renames.

    Args:
        path: File to write.
        entries: What it holds. A later entry of the same destination is left out.

    Raises:
        ConfigError: A source is not there.
    """
    with tarfile.open(path, "w", format=FORMAT) as tar:
        placed: set[str] = set()
        for entry in sorted(entries, key=lambda one: PurePosixPath(one.destination).parts):
            match entry:
                case Copied():
                    _copy(tar, entry, placed)
                case Made():
                    _make(tar, entry, placed)


def _copy(tar: tarfile.TarFile, entry: Copied, placed: set[str]) -> None:
    if not os.path.lexists(entry.source):
        msg = f"{entry.source}: not there, though an image is to hold it as {entry.destination!r}"
        raise ConfigError(msg)
    root = _relative(entry.destination)
    _place_parents(tar, root, placed)
    # A stack, not recursion: the last pushed is the next taken, so the sorted order is reversed.
    waiting = [(entry.source, root, "")]
    while waiting:
        source, name, inside = waiting.pop()
        _copy_one(tar, source, name, placed, keep_owner=entry.keep_owner)
        if source.is_dir() and not source.is_symlink() and inside not in entry.leave_out:
            children = sorted((child.name for child in source.iterdir()), reverse=True)
            waiting += [(source / one, _join(name, one), _join(inside, one)) for one in children]


def _copy_one(
    tar: tarfile.TarFile, source: Path, name: str, placed: set[str], *, keep_owner: bool
) -> None:
    if not name or name in placed:
        return
    info = tar.gettarinfo(source, name)
    if info is None:  # a socket: it means nothing in an image
        return
    placed.add(name)
    info.mtime = 0
    info.uname = info.gname = ""
    if not keep_owner:
        info.uid = info.gid = 0
    if info.isreg():
        with source.open("rb") as file:
            tar.addfile(info, file)
    else:
        tar.addfile(info)


def _make(tar: tarfile.TarFile, entry: Made, placed: set[str]) -> None:
    name = _relative(entry.destination)
    if not name or name in placed:
        return
    _place_parents(tar, name, placed)
    placed.add(name)
    info = tarfile.TarInfo(name)
    if entry.target is not None:
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, entry.target, 0o777
        tar.addfile(info)
    elif entry.content is None:
        info.type, info.mode = tarfile.DIRTYPE, entry.mode or _PARENT_MODE
        tar.addfile(info)
    else:
        info.size, info.mode = len(entry.content), entry.mode or 0o644
        tar.addfile(info, io.BytesIO(entry.content))


def _place_parents(tar: tarfile.TarFile, name: str, placed: set[str]) -> None:
    for parent in reversed(PurePosixPath(name).parents):
        folder = "" if str(parent) == "." else str(parent)
        if folder and folder not in placed:
            placed.add(folder)
            info = tarfile.TarInfo(folder)
            info.type, info.mode = tarfile.DIRTYPE, _PARENT_MODE
            tar.addfile(info)


def _relative(destination: str) -> str:
    if not destination.startswith("/") or ".." in PurePosixPath(destination).parts:
        msg = f"{destination!r} is no path in an image; expected an absolute one without '..'"
        raise ConfigError(msg)
    return destination.strip("/")


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
