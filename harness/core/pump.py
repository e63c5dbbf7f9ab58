"""Read one stream of a command to its end, in a thread, and keep a bounded part of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO


class Pump(threading.Thread):
    """Reads one stream to its end: keeps a bounded part, hands on lines or writes a file."""

    def __init__(
        self,
        stream: IO[bytes] | None,
        *,
        path: Path | None,
        limit_bytes: int,
        on_line: Callable[[str], None] | None,
    ) -> None:
        """Begin to read at once.

        Args:
            stream: A pipe; None, which Popen gives where it was asked for none, is our own bug.
            path: File to append to instead of keeping.
            limit_bytes: Bytes kept; the rest is read and dropped, and a mark says so.
            on_line: Called with each line, without its newline.
        """
        super().__init__(daemon=True)
        if stream is None:
            raise TypeError
        self._stream, self._path, self._on_line = stream, path, on_line
        self._limit_bytes = limit_bytes
        self._kept = bytearray()
        self.start()

    def run(self) -> None:
        """Read to the end; called by the thread."""
        sink = self._path.open("ab", buffering=0) if self._path else None
        room = self._limit_bytes
        try:
            # Not iteration by line alone: a gigabyte without a newline must not fill the memory.
            cut = False
            while chunk := self._stream.readline(65536):
                part = chunk[:room]
                room -= len(part)
                if sink:
                    sink.write(part)
                else:
                    self._kept += part
                if self._on_line:
                    self._on_line(chunk.decode(errors="replace").rstrip("\n"))
                if len(part) < len(chunk) and not cut:
                    cut = True
                    mark = b"\n[cut: more than %d bytes]\n" % self._limit_bytes
                    if sink:
                        sink.write(mark)
                    else:
                        self._kept += mark
        finally:
            if sink:
                sink.close()
            self._stream.close()

    def text(self) -> str:
        """Return what was kept, undecodable bytes replaced. Call it after `join`."""
        return self._kept.decode(errors="replace")
