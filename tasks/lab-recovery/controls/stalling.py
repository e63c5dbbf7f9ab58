"""Waits until time is up, as if what is open would then be settled."""

from __future__ import annotations

from typing import Any

from lab import Lab

#: Seconds; longer than any control may act.
_FOR_EVER_S = 3600.0


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Watch, and do nothing."""
    del task
    lab.wait("labruns", "night-shift", lambda _: False, timeout_s=_FOR_EVER_S)
