"""Where stacks, tasks, policies and the toolchain's sources are: the user's folder, or ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConfigError, SuiteError

_PACKAGE_DIR = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A root folder with tf/, tasks/, policies/ and, usually, toolchain/ in it."""

    root: Path

    @property
    def stacks_dir(self) -> Path:
        """Root modules, one folder a stack."""
        return self.root / "tf" / "stacks"

    @property
    def policies_dir(self) -> Path:
        """Policies and specs, one folder each."""
        return self.root / "policies"

    @property
    def toolchain_root(self) -> Path:
        """The folder that holds toolchain/: this root, else the one that came with the package."""
        return self.root if (self.root / "toolchain").is_dir() else packaged_root()

    def stack_dir(self, stack: str) -> Path:
        """Return the folder of a stack; it need not be there."""
        return self.stacks_dir / stack

    def suite_dir(self, suite: str) -> Path:
        """Return the folder of a suite.

        Raises:
            SuiteError: There is none; the message names those that are there.
        """
        found = self.root / "tasks" / suite
        if not (found / "suite.yaml").is_file():
            names = ", ".join(self.suites()) or "none"
            msg = f"{found}: no suite.yaml"
            raise SuiteError(msg, hint=f"suites here: {names}")
        return found

    def admission_policies(self) -> frozenset[str]:
        """Return the names of the admission policies of the platform: a folder has its name."""
        return frozenset(path.parent.name for path in self.policies_dir.glob("*/policy.yaml"))

    def suites(self) -> tuple[str, ...]:
        """Return the names of the suites that are there, sorted."""
        found = (self.root / "tasks").glob("*/suite.yaml")
        return tuple(sorted(path.parent.name for path in found))


def packaged_root() -> Path:
    """Return the root that came with the package: its data, or the checkout it is run from."""
    data = _PACKAGE_DIR / "_data"
    return data if data.is_dir() else _PACKAGE_DIR.parent


def find_layout(explicit: Path | None, working_dir: Path) -> Layout:
    """Return the given root, else the working directory where it has stacks, else the package's.

    Raises:
        ConfigError: The given root has no tf/stacks.
    """
    if explicit is not None:
        if not (explicit / "tf" / "stacks").is_dir():
            msg = f"{explicit}: no tf/stacks, expected a folder with tf/, tasks/ and policies/"
            raise ConfigError(msg, hint="correct --root")
        return Layout(root=explicit.absolute())
    if (working_dir / "tf" / "stacks").is_dir():
        return Layout(root=working_dir.absolute())
    return Layout(root=packaged_root())
