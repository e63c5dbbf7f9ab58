"""Where stacks, tasks, policies and the toolchain's sources are: the user's folders, or ours."""

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


def policy_names(policies_dir: Path) -> frozenset[str]:
    """Return the names of the admission policies of a folder: each has its own folder's name."""
    return frozenset(path.parent.name for path in policies_dir.glob("*/policy.yaml"))


def find_own_folders(stack_dir: Path, policies_dir: Path | None) -> tuple[Path, Path]:
    """Return the folders of somebody's own stack and of its policies, absolute.

    Args:
        stack_dir: The root module.
        policies_dir: None takes `policies/` in the stack's folder, or beside it.

    Raises:
        ConfigError: One is missing or is none; the message says what was looked for.
    """
    stack_dir = stack_dir.resolve()
    _require_folder(stack_dir, expected="a folder with a root module")
    if not any((*stack_dir.glob("*.tf"), *stack_dir.glob("*.tf.json"))):
        msg = f"{stack_dir}: no *.tf, expected a root module"
        raise ConfigError(msg, hint="name the folder in which terraform would be run")
    if policies_dir is not None:
        _require_folder(policies_dir, expected="a folder with one folder a policy")
        return stack_dir, policies_dir.resolve()
    places = (stack_dir / "policies", stack_dir.parent / "policies")
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        msg = f"{stack_dir}: no policies beside it, looked for {places[0]} and {places[1]}"
        raise ConfigError(msg, hint="name their folder with --policies")
    return stack_dir, found


def _require_folder(path: Path, *, expected: str) -> None:
    if not path.is_dir():
        found = "is a file" if path.exists() else "does not exist"
        msg = f"{path}: {found}, expected {expected}"
        raise ConfigError(msg, hint="correct the path")
