"""What Python imports in the lab image: the rooms of ours that it runs, and what these import.

Owns which packages that is and in which versions: those that are installed here, with their hashes
where our lock file has them. Fetches wheels for the Python of the image, whatever Python runs this.
Called by whoever makes the image.
"""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

import harness
from harness.cluster.images.long_commands import Progress, Runs, run_long
from harness.cluster.toolchain.go import INSTALLER_ENVIRONMENT
from harness.core.files import sha256_hex
from harness.core.process import scrubbed_environment
from harness.errors import PrerequisiteError

#: What the rooms below import, by distribution. A dependency of theirs comes along.
ROOTS = ("httpx", "kubernetes", "pydantic", "pyyaml", "starlette", "tenacity", "uvicorn")

#: Dependencies of a dependency that its synchronous half never imports.
NEVER_IMPORTED = frozenset({"aiohttp", "aiohttp-retry"})

#: Folders of packages that are never imported either: 55 MB of asynchronous client, and tests.
_CUT = ("kubernetes/aio", "bin", "**/tests", "**/__pycache__")

#: Rooms and modules of ours that a process of the laboratory imports.
_ROOMS = ("__init__.py", "errors.py", "core", "kube", "lab", "model")

#: Python of the image: Debian 12's. Newest C library that a wheel may ask for: Debian 12's, 2.36.
PYTHON = "3.11"
_GLIBC_MINORS = range(36, 16, -1)

#: Seconds for the download of 15 MB on a slow line.
_DOWNLOAD_TIMEOUT_S = 600.0

#: One entry of a lock file, and one hash in it.
_LOCKED = re.compile(r"^(\S+==[^\s;]+)[^\n]*\\\n(?:    --hash=\S+(?: \\)?\n?)+", re.MULTILINE)
_HASH = re.compile(r"--hash=\S+")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

#: Distribution name to what it requires; None where it is not installed.
Requires = Callable[[str], Sequence[str] | None]


def harness_files(package_dir: Path = Path(harness.__file__).parent) -> dict[str, bytes]:
    """Return path in the library to content of every module of ours, sorted."""
    found = {}
    for room in _ROOMS:
        path = package_dir / room
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            found[f"harness/{file.relative_to(package_dir)}"] = file.read_bytes()
    return found


def write_harness(files: Mapping[str, bytes], folder: Path) -> None:
    """Write modules below a folder; it may be there already."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def closure(roots: Sequence[str], requires: Requires) -> tuple[str, ...]:
    """Return the roots and all that they need, as it is installed, sorted. Pure but for `requires`.

    A dependency that is not installed here was not needed here, so markers are not read.

    Raises:
        PrerequisiteError: A root is not installed.
    """
    found: set[str] = set()
    waiting = [(name, True) for name in roots]
    while waiting:
        name, needed = waiting.pop()
        if name in found or name in NEVER_IMPORTED:
            continue
        lines = requires(name)
        if lines is None:
            if needed:
                msg = f"{name} is not installed, though the laboratory imports it"
                raise PrerequisiteError(msg, hint="install strandline with its dependencies")
            continue
        found.add(name)
        waiting += [(one, False) for one in _names(lines)]
    return tuple(sorted(found))


def _names(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        match = _NAME.match(line)
        if match and "extra ==" not in line:
            yield normal(match[0])


def normal(name: str) -> str:
    """Return the one spelling of a distribution's name. Pure."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(versions: Mapping[str, str], lock: str) -> str:
    """Return a requirements file with exact versions; with hashes when the lock has all. Pure.

    Args:
        versions: Distribution to version.
        lock: Text of requirements.lock; empty where there is none.
    """
    locked = {match[1]: _HASH.findall(match[0]) for match in _LOCKED.finditer(lock)}
    pins = [f"{name}=={version}" for name, version in sorted(versions.items())]
    if all(pin in locked for pin in pins):
        # Without the markers of the lock: pip reads them for the Python that runs it.
        pins = [" \\\n    ".join([pin, *locked[pin]]) for pin in pins]
    return "".join(f"{pin}\n" for pin in pins)


def installed_requirements() -> str:
    """Return the requirements file for what is installed here."""

    def requires(name: str) -> Sequence[str] | None:
        try:
            return metadata.requires(name) or ()
        except metadata.PackageNotFoundError:
            return None

    versions = {name: metadata.version(name) for name in closure(ROOTS, requires)}
    lock_path = Path(harness.__file__).parents[1] / "requirements.lock"
    return requirements(versions, lock_path.read_text() if lock_path.is_file() else "")


def fetch(
    text: str,
    target_dir: Path,
    *,
    installers: Sequence[Sequence[str]],
    environ: Mapping[str, str],
    progress: Progress,
    runs: Runs = run_long,
) -> None:
    """Unpack the wheels of a requirements file for the image's Python into an empty folder.

    Args:
        text: The requirements file.
        target_dir: Folder to make.
        installers: Commands that install a wheel, best first; the next is tried when one fails.
        environ: The caller's environment.
        progress: Told what goes on.
        runs: Runs a command to its end.

    Raises:
        PrerequisiteError: No installer could.
    """
    listed = target_dir.with_suffix(".txt")
    listed.write_text(text)
    env = scrubbed_environment({}, keep=INSTALLER_ENVIRONMENT, ambient=environ)
    tried: list[str] = []
    for argv in installers:
        try:
            runs(
                [*argv, *_options(argv), "--target", str(target_dir), "-r", str(listed)],
                env=env,
                what=f"fetching the lab image's {text.count('==')} packages",
                timeout_s=_DOWNLOAD_TIMEOUT_S,
                progress=progress,
            )
        except PrerequisiteError as error:
            tried.append(error.message)
            shutil.rmtree(target_dir, ignore_errors=True)
            continue
        _trim(target_dir)
        return
    msg = f"no installer could fetch the lab image's packages: {'; '.join(tried)}"
    raise PrerequisiteError(msg, hint="give access to a Python package index")


def _options(argv: Sequence[str]) -> list[str]:
    """Return the options that ask for wheels of the image's Python. Pure."""
    machine = platform.machine()
    if Path(argv[0]).name == "uv":
        return ["--python-version", PYTHON, "--python-platform", f"{machine}-manylinux_2_28"]
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in _GLIBC_MINORS]
    return [
        *("--quiet", "--no-compile", "--disable-pip-version-check", "--implementation", "cp"),
        *("--python-version", PYTHON, "--abi", "cp311", "--abi", "abi3", "--abi", "none"),
        *(f"--platform={one}" for one in (*platforms, f"manylinux2014_{machine}")),
    ]


def _trim(folder: Path) -> None:
    for pattern in _CUT:
        for found in sorted(folder.glob(pattern)):
            shutil.rmtree(found)


def library_key(parts: Sequence[bytes]) -> str:
    """Return the first 12 digits of a digest over parts and their order. Pure."""
    return sha256_hex(b"".join(sha256_hex(part).encode() for part in parts))[:12]
