"""Spends tokens and does nothing."""

from __future__ import annotations

import json
import sys
from typing import Any

from lab import Lab


def act(_lab: Lab, _task: dict[str, Any]) -> None:
    """Do nothing, and say what that cost."""
    spent = {"input_tokens": 1000, "output_tokens": 10, "cost_usd": 0.01}
    sys.stdout.write(json.dumps(spent) + "\n")
