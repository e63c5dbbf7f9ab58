"""Verdicts from records alone: the same bundle gives the same bytes, with no cluster in sight."""

from __future__ import annotations
