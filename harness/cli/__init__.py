"""What a user types: one file a command, and one place where errors become text and exit codes."""

from __future__ import annotations
