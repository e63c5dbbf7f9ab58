"""The simulated laboratory: processes of their own, met only through the API server."""

from __future__ import annotations
