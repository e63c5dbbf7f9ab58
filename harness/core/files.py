"""Files that are whole or absent: atomic writes, appended journals, digests, canonical JSON."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import ConfigError

#: Only the owner may read: var files, tokens, keys, journals of the instruments.
PRIVATE_MODE = 0o600
PUBLIC_MODE = 0o644


def canonical_json(value: Any) -> bytes:
    """Return the one byte form of a JSON value: sorted keys, no spaces, UTF-8, no NaN. Pure.

    Raises:
        ValueError: The value holds a number that JSON does not have.
    """
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8", "surrogatepass")


def readable_json(value: Any) -> bytes:
    """Return sorted, indented JSON with a final newline; equal values give equal bytes. Pure."""
    text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal. Pure."""
    return hashlib.sha256(data).hexdigest()


def write_atomic(path: Path, data: bytes, *, mode: int = PUBLIC_MODE) -> None:
    """Replace `path` with `data`, or leave it as it was; parents are made. Idempotent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any, *, mode: int = PUBLIC_MODE) -> None:
    """Write readable JSON atomically."""
    write_atomic(path, readable_json(value), mode=mode)


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        ConfigError: It is missing or is not JSON; the message names the file and line.
    """
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise ConfigError(msg) from error
    except json.JSONDecodeError as error:
        msg = f"{path}:{error.lineno}: not JSON: {error.msg}"
        raise ConfigError(msg) from error
    except (ValueError, RecursionError) as error:  # not UTF-8, a number of 5000 digits, nesting
        msg = f"{path}:1: not JSON: {str(error).splitlines()[0]}"
        raise ConfigError(msg) from error


def append_line(path: Path, value: Any, *, mode: int = PUBLIC_MODE) -> None:
    """Append one JSON value as a line and wait until it is on the disk.

    A last line cut by a kill is cut off first: behind it, this line could not be read either. Other
    processes may append to the same file: one writes at a time.
    """
    line = canonical_json(value) + b"\n"
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, mode)
    try:
        # Until it is closed: a line that another process is still writing looks like a cut one.
        fcntl.flock(handle, fcntl.LOCK_EX)
        end = os.lseek(handle, 0, os.SEEK_END)
        if end and os.pread(handle, 1, end - 1) != b"\n":
            whole = path.read_bytes().rpartition(b"\n")
            os.ftruncate(handle, len(whole[0]) + len(whole[1]))
        while line:  # a disk that fills up takes a part, and fails at the next try
            line = line[os.write(handle, line) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def read_lines(path: Path) -> Iterator[Any]:
    """Yield the JSON values of an appended file, leaving out a last line cut by a kill."""
    if not path.exists():
        return
    for line in path.read_bytes().split(b"\n")[:-1]:
        yield json.loads(line)
