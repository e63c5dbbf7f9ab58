"""Text that an agent or its provider wrote, made safe to keep, to print and to send on.

It owns capping, masking of secrets and the showing of control characters, all pure but for
`mask_file`; it refuses to know what the text means. Every kind of agent calls it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.core.files import write_atomic

#: Characters of an agent's output, or of an API's answer, kept in an error.
ERROR_CHARS = 2000

#: Shortest secret that is masked; a shorter one would blank out ordinary words.
_SHORTEST_SECRET = 8

_MASK = "***"


def visible(text: str) -> str:
    """Return `text` with every control and format character but newline and tab escaped. Pure."""
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char in "\n\t" or char.isprintable():
        return char
    return char.encode("unicode_escape").decode("ascii")


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return `text` with each secret of 8 or more characters replaced by `***`. Pure."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, _MASK)
    return text


def excerpt(text: str, secrets: Iterable[str] = (), *, limit_chars: int = ERROR_CHARS) -> str:
    """Return the last `limit_chars` characters of `text`, masked and made visible. Pure."""
    # Masked before it is cut: half a secret would match nothing.
    return visible(masked(text, secrets).strip()[-limit_chars:])


def truncated(text: str, *, limit_bytes: int) -> str:
    """Return `text`, or its head and tail round a mark that says how much was left out. Pure."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit_bytes:
        return data.decode()
    head, tail = data[: limit_bytes * 3 // 4], data[len(data) - limit_bytes // 4 :]
    mark = f"\n[{len(data) - len(head) - len(tail)} of {len(data)} bytes left out]\n"
    return head.decode(errors="ignore") + mark + tail.decode(errors="ignore")


def mask_file(path: Path, secrets: Iterable[str]) -> None:
    """Replace each secret in a file that an agent's output went to. Idempotent."""
    found = path.read_bytes() if path.exists() else b""
    clean = found
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            clean = clean.replace(secret.encode(), _MASK.encode())
    if clean != found:
        write_atomic(path, clean)
