"""Strandline: score what agents do to live infrastructure, from records only."""

from __future__ import annotations

__version__ = "0.1.0"
