"""How long it takes, measured: not tests, and nothing here decides right or wrong."""

from __future__ import annotations
