"""A cluster of somebody's: used when it is named and allowed, never created, never deleted."""

from __future__ import annotations
