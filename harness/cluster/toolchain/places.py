"""Look for one binary in one place after another, and say what was seen in each.

Owns the order: explicit folder, KUBEBUILDER_ASSETS, PATH, our cache. Never builds. Called by
`Toolchain`, and through it by the doctor.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.toolchain.binaries import Binary, Version, parse_version
from harness.core.process import run, scrubbed_environment
from harness.errors import HarnessError, PrerequisiteError

#: Environment variable that names a folder of binaries; it wins over every other place.
BIN_DIR_VARIABLE = "STRANDLINE_BIN_DIR"

#: Seconds for a program to print its version; they take 0.1 to 0.4 s here.
_VERSION_TIMEOUT_S = 20.0

Asks = Callable[[Path, tuple[str, ...]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where a binary is.

    Attributes:
        path: The file.
        version: What it says it is; the pinned version where it cannot say.
        source: The place, for example `PATH`.
    """

    path: Path
    version: Version
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a search found.

    Attributes:
        found: The binary, or None.
        looked: One line a place, in the order of the search.
    """

    found: Found | None
    looked: tuple[str, ...]


def ask_version(path: Path, args: tuple[str, ...]) -> str:
    """Run a program for its version; return what it printed, on both streams."""
    # HOME points nowhere: a version must not depend on, or write, a user's files.
    env = scrubbed_environment({"HOME": "/nonexistent", "CHECKPOINT_DISABLE": "1"})
    ended = run([str(path), *args], env=env, timeout_s=_VERSION_TIMEOUT_S, limit_bytes=65536)
    return ended.stdout + ended.stderr


def search(
    binary: Binary,
    *,
    pinned: Version,
    group_dir: Path,
    environ: Mapping[str, str],
    ask: Asks = ask_version,
) -> Search:
    """Look for a binary in every place, in order.

    Args:
        binary: What to look for.
        pinned: The version that toolchain/ pins.
        group_dir: Folder of our cache where its group is, once built.
        environ: The caller's environment.
        ask: Runs a program for its version.

    Raises:
        PrerequisiteError: The folder that the user named holds one that is too old.
    """
    looked: list[str] = []
    for source, path in _candidates(binary, pinned, environ):
        if path is None:
            looked.append(f"{source}: none")
            continue
        version = _version(binary, path, pinned, ask)
        least = binary.at_least or pinned.series
        if version is not None and version.series >= least:
            return Search(
                found=Found(path=path, version=version, source=source), looked=tuple(looked)
            )
        expected = f"{least[0]}.{least[1]} or newer"
        seen = f"{source}: {path} is {version or 'of no known version'}, {expected} expected"
        if source.startswith(BIN_DIR_VARIABLE):
            raise PrerequisiteError(seen, hint=f"unset {BIN_DIR_VARIABLE} or replace the file")
        looked.append(seen)
    cached = group_dir / binary.name
    source = f"cache {group_dir}"
    if _executable(cached):
        return Search(found=Found(path=cached, version=pinned, source=source), looked=tuple(looked))
    return Search(found=None, looked=(*looked, f"{source}: none"))


def _candidates(
    binary: Binary, pinned: Version, environ: Mapping[str, str]
) -> list[tuple[str, Path | None]]:
    places: list[tuple[str, Path | None]] = []
    for variable in (BIN_DIR_VARIABLE, "KUBEBUILDER_ASSETS"):
        if folder := environ.get(variable):
            names = (binary.name, f"{binary.name}_v{pinned}")
            files = [Path(folder).absolute() / name for name in names]
            found = next((file for file in files if _executable(file)), None)
            places.append((f"{variable}={folder}", found))
    if binary.on_path:
        folders = [Path(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder]
        files = [folder / binary.name for folder in folders]
        places.append(("PATH", next((file for file in files if _executable(file)), None)))
    return places


def _version(binary: Binary, path: Path, pinned: Version, ask: Asks) -> Version | None:
    if not binary.version_args:
        return pinned
    try:
        return parse_version(ask(path, binary.version_args))
    except HarnessError:
        return None


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
