"""The simulated instruments: what they do, what they remember, and how they are called."""

from __future__ import annotations
