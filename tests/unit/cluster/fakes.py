"""Stand-ins for what the cluster room meets: programs that print a version, and a home."""

from __future__ import annotations

from pathlib import Path

from harness.errors import PrerequisiteError


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
