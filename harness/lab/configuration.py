"""The keys of what a process of the laboratory is told. Called before anything else is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.errors import ConfigError


def check_keys(process: str, value: Mapping[str, Any], expected: frozenset[str]) -> None:
    """Refuse a configuration with other keys than these. Its values may be secret, and stay out.

    Raises:
        ConfigError: A key is missing or unknown.
    """
    if value.keys() != expected:
        msg = f"{process}: keys {sorted(value)}, expected {sorted(expected)}"
        raise ConfigError(msg, hint="start it with the harness of the same version")
