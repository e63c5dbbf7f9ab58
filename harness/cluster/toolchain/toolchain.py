"""Give the binaries that a cluster and its stacks need: found, or built once and kept.

Owns the cache's layout. Called by the cluster providers, by whoever runs
Terraform, and by the doctor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.cluster.toolchain.binaries import (
    BINARIES,
    PROVIDER_BINARY,
    Binary,
    Version,
    pinned_versions,
)
from harness.cluster.toolchain.build import Progress, build_group, download_module
from harness.cluster.toolchain.go import ensure_go, find_go
from harness.cluster.toolchain.mirror import ensure_mirror
from harness.cluster.toolchain.places import (
    BIN_DIR_VARIABLE,
    Asks,
    Found,
    Search,
    ask_version,
    search,
)
from harness.core.files import sha256_hex
from harness.errors import PrerequisiteError

#: HashiCorp's Terraform is used where it is, and never built: its licence is not ours to carry.
_TERRAFORM = Binary(
    name="terraform",
    group="",
    module="",
    package="",
    version_args=("version",),
    at_least=(1, 7),
)


def default_cache_dir(
    environ: Mapping[str, str], *, find_home: Callable[[], Path] = Path.home
) -> Path:
    """Return `$XDG_CACHE_HOME/strandline/toolchain`. Pure but for the home directory.

    Args:
        environ: The caller's environment.
        find_home: Returns the user's home directory.

    Raises:
        PrerequisiteError: Neither that nor `$HOME` is set, and the user has no home directory.
    """
    base = environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else find_home() / ".cache") / "strandline" / "toolchain"
    except RuntimeError as error:
        msg = "no place for a cache: neither XDG_CACHE_HOME nor HOME is set, and the user has none"
        raise PrerequisiteError(msg, hint="set XDG_CACHE_HOME to a folder") from error


class Toolchain:
    """Where every binary is, for one environment. A search is done once and remembered."""

    def __init__(
        self,
        *,
        root: Path,
        cache_dir: Path,
        environ: Mapping[str, str],
        progress: Progress,
        ask: Asks = ask_version,
    ) -> None:
        """Look at nothing yet.

        Args:
            root: Folder that holds toolchain/.
            cache_dir: Where built groups are kept; see `default_cache_dir`.
            environ: The caller's environment.
            progress: Told, in one line each, about work that takes more than a moment.
            ask: Runs a program for its version.
        """
        self._root = root
        self._cache_dir = cache_dir
        self._environ = dict(environ)
        self._progress = progress
        self._ask = ask
        self._searches: dict[str, Search] = {}
        self._mirror: Path | None = None

    def pinned(self, name: str) -> Version:
        """Return the version of a binary that toolchain/ pins.

        Raises:
            PrerequisiteError: The folder of its group is missing or does not name it.
        """
        binary = BINARIES[name]
        path = self._source_dir(binary.group) / "go.mod"
        version = pinned_versions(path.read_text()).get(binary.module) if path.is_file() else None
        if version is None:
            msg = f"{path}: names no version of {binary.module}"
            raise PrerequisiteError(msg, hint="give the folder that holds toolchain/ with --root")
        return version

    def search(self, name: str) -> Search:
        """Look for a binary without building it; say which places were looked at."""
        if name not in self._searches:
            self._searches[name] = self._search(BINARIES[name])
        return self._searches[name]

    def find(self, name: str) -> Found | None:
        """Return where a binary is; None when it would have to be built."""
        return self.search(name).found

    def find_go(self) -> tuple[Found | None, tuple[str, ...]]:
        """Return a Go that can build, or None, and where none was."""
        return find_go(self._environ, self._cache_dir)

    def ensure(self, names: Collection[str]) -> dict[str, Path]:
        """Return name to path of every binary asked for; build what is nowhere. Idempotent.

        Raises:
            PrerequisiteError: One is nowhere and cannot be built; every place is named.
        """
        missing = [name for name in names if self.find(name) is None]
        for group in dict.fromkeys(BINARIES[name].group for name in missing):
            self._build(group, [name for name in missing if BINARIES[name].group == group])
        for name in missing:
            del self._searches[name]
        paths = {name: found.path for name in names if (found := self.find(name))}
        if absent := sorted(set(names) - paths.keys()):
            msg = f"{', '.join(absent)} not there after a build"
            raise PrerequisiteError(msg, hint="remove the cache folder and try again")
        return paths

    def group_key(self, group: str) -> str:
        """Return a name for what a group builds: another pin or source is another name."""
        return self._group_dir(group).name

    def ensure_group(self, group: str) -> Path:
        """Return the folder with what a group builds at its pins, whatever else is on the machine.

        Raises:
            PrerequisiteError: It is not built yet and cannot be.
        """
        folder = self._group_dir(group)
        if not folder.is_dir():
            self._build_group(group)
        return folder

    def module_dir(self, group: str, module: str) -> Path:
        """Return the folder with the source of a module at the version that a group pins.

        Raises:
            PrerequisiteError: It cannot be downloaded.
        """
        go = ensure_go(self._environ, self._cache_dir, self._progress)
        return download_module(
            module, source_dir=self._source_dir(group), go=go.path, environ=self._environ
        )

    def find_terraform(self) -> Found | None:
        """Return Terraform, else OpenTofu; None when OpenTofu would have to be built."""
        terraform = search(
            _TERRAFORM,
            pinned=Version(major=1, minor=7, patch=0),
            group_dir=self._cache_dir / "terraform",
            environ=self._environ,
            ask=self._ask,
        )
        return terraform.found or self.find("tofu")

    def ensure_terraform(self) -> Path:
        """Return the path of Terraform or OpenTofu, whichever is there; build OpenTofu else.

        Raises:
            PrerequisiteError: Neither is anywhere, and OpenTofu cannot be built.
        """
        found = self.find_terraform()
        return found.path if found else self.ensure(["tofu"])["tofu"]

    def provider_mirror(self) -> Path:
        """Return a filesystem mirror that holds the Terraform provider. Idempotent.

        Raises:
            PrerequisiteError: It is not there, and cannot be made.
        """
        if self._mirror is None:  # its name has a digest of the provider's 60 MB
            binary = self.ensure([PROVIDER_BINARY])[PROVIDER_BINARY]
            with self._keeping():
                version = self.pinned(PROVIDER_BINARY)
                self._mirror = ensure_mirror(self._cache_dir, binary, version)
        return self._mirror

    def _search(self, binary: Binary) -> Search:
        return search(
            binary,
            pinned=self.pinned(binary.name),
            group_dir=self._cached_in(binary),
            environ=self._environ,
            ask=self._ask,
        )

    def _cached_in(self, binary: Binary) -> Path:
        """Return the folder of the first group that has it; its own where none has."""
        folders = [self._group_dir(group) for group in (binary.group, *binary.also_in)]
        return next((one for one in folders if (one / binary.name).is_file()), folders[0])

    def _build(self, group: str, names: Collection[str]) -> None:
        try:
            self._build_group(group)
        except PrerequisiteError as error:
            looked = "; ".join(f"{name}: {', '.join(self.search(name).looked)}" for name in names)
            msg = f"{', '.join(names)} not found ({looked}) and not built: {error.message}"
            raise PrerequisiteError(msg, hint=error.hint) from error

    def _build_group(self, group: str) -> None:
        with self._keeping():
            self._cache_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            go = ensure_go(self._environ, self._cache_dir, self._progress)
            build_group(
                group,
                source_dir=self._source_dir(group),
                group_dir=self._group_dir(group),
                go=go.path,
                environ=self._environ,
                progress=self._progress,
            )

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """Name the cache's folder in what goes wrong while something is written to it."""
        try:
            yield
        except OSError as error:
            msg = f"{self._cache_dir}: cannot keep what is built there: {error.strerror}"
            hint = (
                f"set XDG_CACHE_HOME to a folder that can be written, or {BIN_DIR_VARIABLE} "
                "to one that holds the binaries"
            )
            raise PrerequisiteError(msg, hint=hint) from error

    def _source_dir(self, group: str) -> Path:
        return self._root / "toolchain" / group

    def _group_dir(self, group: str) -> Path:
        main = {binary.group: binary.name for binary in BINARIES.values()}[group]
        folder = self._source_dir(group)
        files = [folder / "go.mod", folder / "go.sum", *sorted(folder.rglob("*.go"))]
        digest = sha256_hex(b"".join(file.read_bytes() for file in files))
        return self._cache_dir / f"{group}-{self.pinned(main)}-{digest[:12]}"
