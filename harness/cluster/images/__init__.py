"""Container images that the project builds by itself, kept as archives in the cache."""

from __future__ import annotations
