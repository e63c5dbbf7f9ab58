"""Graders that are wrong by one step, each of which the cases of the checks must tell apart."""

from __future__ import annotations
