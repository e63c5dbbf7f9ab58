"""What other people do in an attempt: before the agent begins, and beside it, on any laboratory."""

from __future__ import annotations
