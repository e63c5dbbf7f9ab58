"""Build one group of binaries from its Go modules: once, whole or not at all, with progress.

Owns the lock, the time limit and what `go build` is told; refuses to know where binaries are looked
for. Called by `Toolchain` when a search found nothing.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.cluster.locks import locked
from harness.cluster.toolchain.binaries import BINARIES, linker_flags, pinned_versions, tools
from harness.core.process import Child, await_end, run, scrubbed_environment
from harness.core.waiting import SYSTEM_CLOCK
from harness.errors import PrerequisiteError

Progress = Callable[[str], None]

#: Longest build of one group, in seconds. The control plane takes 6 min cold on two cores.
BUILD_TIMEOUT_S = 3600.0

#: Seconds for the download of one module, of a few megabytes, on a slow line.
_DOWNLOAD_TIMEOUT_S = 300.0

#: Seconds between two lines of progress.
_PROGRESS_EVERY_S = 10.0

#: Characters of the compiler's stderr that an error carries.
_TAIL_CHARS = 1500

#: What Go reads from the environment: its own settings, proxies, certificates, where caches are.
#: GOFLAGS is left out, since a `-mod=vendor` meant for another module would break this one.
_KEPT = (
    *("PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "SSL_CERT_FILE"),
    *("SSL_CERT_DIR", "GOPATH", "GOCACHE", "GOMODCACHE", "GOPROXY", "GONOPROXY", "GOPRIVATE"),
    *("GOSUMDB", "GONOSUMDB", "GOENV", "GOTMPDIR", "GOMAXPROCS", "HTTP_PROXY", "HTTPS_PROXY"),
    *("NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)


def go_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of `go`. Pure."""
    fixed = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": ""}
    return scrubbed_environment(fixed, keep=_KEPT, ambient=environ)


def build_group(
    group: str,
    *,
    source_dir: Path,
    group_dir: Path,
    go: Path,
    environ: Mapping[str, str],
    progress: Progress,
) -> None:
    """Build every tool of a group into `group_dir`, which appears whole. Idempotent.

    Args:
        group: Name of the group.
        source_dir: Folder with its go.mod and go.sum; only read.
        group_dir: Folder to make, keyed by version and digest.
        go: The go command.
        environ: The caller's environment.
        progress: Told what goes on, at least every 10 s.

    Raises:
        PrerequisiteError: The build failed or took too long; the message has the tail of stderr.
    """
    with locked(
        group_dir.with_name(f"{group_dir.name}.lock"),
        what=group,
        timeout_s=BUILD_TIMEOUT_S,
        progress=progress,
    ):
        if group_dir.is_dir():
            return
        for stale in group_dir.parent.glob(f".{group_dir.name}.*"):  # of a build that was killed
            shutil.rmtree(stale, ignore_errors=True)
        temporary = Path(tempfile.mkdtemp(dir=group_dir.parent, prefix=f".{group_dir.name}."))
        try:
            _compile(group, source_dir, temporary, go=go, environ=environ, progress=progress)
            temporary.chmod(0o755)
            temporary.rename(group_dir)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def download_module(module: str, *, source_dir: Path, go: Path, environ: Mapping[str, str]) -> Path:
    """Return the folder of Go's own cache with the source of a module. Idempotent.

    Args:
        module: Its path.
        source_dir: Folder whose go.mod and go.sum say which version; only read.
        go: The go command.
        environ: The caller's environment.

    Raises:
        PrerequisiteError: It cannot be downloaded.
    """
    argv = [str(go), "-C", str(source_dir), "mod", "download", "-json", module]
    ended = run(argv, env=go_environment(environ), timeout_s=_DOWNLOAD_TIMEOUT_S)
    try:
        return Path(json.loads(ended.stdout)["Dir"])
    except (ValueError, KeyError) as error:
        found = (ended.stdout + ended.stderr)[-_TAIL_CHARS:].strip()
        msg = f"go mod download of {module} exited {ended.returncode}: {found}"
        raise PrerequisiteError(msg, hint="give access to a Go module proxy") from error


def _compile(
    group: str,
    source_dir: Path,
    out_dir: Path,
    *,
    go: Path,
    environ: Mapping[str, str],
    progress: Progress,
) -> None:
    go_mod = (source_dir / "go.mod").read_text()
    pinned = pinned_versions(go_mod)
    argv = [
        *(str(go), "build", "-C", str(source_dir), "-mod=readonly", "-buildvcs=false"),
        *("-trimpath", "-ldflags", linker_flags(group, pinned), "-o", f"{out_dir}/"),
        *tools(go_mod),
    ]
    began_s = SYSTEM_CLOCK.monotonic_s()
    progress(f"building {group} from Go modules (once; minutes the first time)")
    with Child(argv, env=go_environment(environ)) as child:
        ended = await_end(
            child,
            timeout_s=BUILD_TIMEOUT_S,
            say_every_s=_PROGRESS_EVERY_S,
            say=lambda took_s: progress(f"building {group}: {took_s:.0f} s"),
        )
    if ended.timed_out:
        msg = f"building {group} took longer than {BUILD_TIMEOUT_S:g} s"
        raise PrerequisiteError(msg, hint="build on a faster machine and set STRANDLINE_BIN_DIR")
    if ended.returncode != 0:
        msg = (
            f"go build of {group} exited {ended.returncode}: {ended.stderr[-_TAIL_CHARS:].strip()}"
        )
        raise PrerequisiteError(
            msg, hint="give access to a Go module proxy, or set STRANDLINE_BIN_DIR"
        )
    for binary in BINARIES.values():
        if binary.group == group and binary.built_name != binary.name:
            (out_dir / binary.built_name).rename(out_dir / binary.name)
    progress(f"built {group} in {SYSTEM_CLOCK.monotonic_s() - began_s:.0f} s")
