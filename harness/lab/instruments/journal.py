"""The instruments' own record of what they did: the truth, readable by the harness alone.

One JSON entry a line, on the disk before anybody is answered, mode 0600.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from harness.core.files import PRIVATE_MODE, append_line, read_lines
from harness.errors import ConfigError
from harness.lab.instruments.slot import Entry


class Journal:
    """An appended file and what is in it."""

    def __init__(self, path: Path) -> None:
        """Read what is there.

        Raises:
            ConfigError: A line in the middle is not JSON.
        """
        self._path = path
        try:
            self._entries: list[Entry] = list(read_lines(path))
        except json.JSONDecodeError as error:
            msg = f"{path}: not a journal: {error.msg}"
            raise ConfigError(msg, hint="start with a new file") from error
        if path.exists():
            self._drop_cut_line()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=PRIVATE_MODE)
        path.chmod(PRIVATE_MODE)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry, in order."""
        return tuple(self._entries)

    def record(self, entries: Iterable[Entry]) -> None:
        """Append entries and wait until they are on the disk."""
        for entry in entries:
            append_line(self._path, entry, mode=PRIVATE_MODE)
            self._entries.append(entry)

    def _drop_cut_line(self) -> None:
        """A kill in the middle of a write leaves half a line, which the next one would join."""
        data = self._path.read_bytes()
        if data and not data.endswith(b"\n"):
            with self._path.open("r+b") as file:
                file.truncate(data.rfind(b"\n") + 1)
