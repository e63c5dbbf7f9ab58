"""Stand-ins for what the cluster room meets: programs that print a version, long commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.core.process import Finished
from harness.errors import HarnessError, PrerequisiteError


class FakePrograms:
    """Executables that answer with a given version when asked; unknown ones cannot be run."""

    def __init__(self) -> None:
        self._says: dict[Path, str] = {}
        self.asked: list[Path] = []

    def add(self, path: Path, says: str) -> Path:
        """Make an executable file that says `says`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o755)
        self._says[path] = says
        return path

    def ask(self, path: Path, args: tuple[str, ...]) -> str:
        """Answer as the program would."""
        assert args
        self.asked.append(path)
        if path not in self._says:
            msg = f"cannot run {str(path)!r}"
            raise PrerequisiteError(msg)
        return self._says[path]


class FakeLongCommand:
    """Runs nothing: remembers one call, writes to a file that is named in argv, or fails.

    Checked against the real thing in tests/kind/test_node_image.py.
    """

    def __init__(self, *, content: bytes = b"", fails: HarnessError | None = None) -> None:
        self._content = content
        self._fails = fails
        self.argv: list[str] = []
        self.env: dict[str, str] = {}

    def __call__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        what: str,
        timeout_s: float,
        progress: Callable[[str], None],
    ) -> Finished:
        """Write the content to the last argument that lies in TMPDIR, and end well, or fail."""
        assert not self.argv, "called twice"
        assert timeout_s > 0
        self.argv, self.env = list(argv), dict(env)
        progress(what)
        target = [Path(part) for part in argv if part.startswith(f"{env['TMPDIR']}/")][-1]
        target.write_bytes(self._content)
        if self._fails:
            raise self._fails
        return Finished(
            argv=tuple(argv),
            returncode=0,
            stdout="",
            stderr="",
            duration_s=0.0,
            timed_out=False,
            survivors=0,
        )
