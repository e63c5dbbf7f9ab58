"""Foreign text made inert: what an agent wrote shows as text, wherever it is printed.

It owns the escaping; it refuses to know what the text is about. Every renderer calls it.
"""

from __future__ import annotations

#: Characters of a foreign text on one line of a report.
LINE_CHARS = 500


def inert(text: str, *, limit_chars: int = LINE_CHARS) -> str:
    r"""Return `text` on one line, capped, with what does not print shown as `\x1b`. Pure.

    Control, format (direction overrides among them), private and unassigned characters, and lone
    surrogates are all escaped, so that the result is legal in XML 1.0 and any UTF-8 stream.
    """
    # Cut first: a text of a megabyte is not worth escaping whole.
    shown = "".join(_shown(char) for char in text[:limit_chars])
    return shown if len(text) <= limit_chars else f"{shown}... ({len(text)} characters)"


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    if char in "\n\r\t":
        return " "
    return char.encode("unicode_escape").decode("ascii")
