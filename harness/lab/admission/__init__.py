"""What the webhook says to each request: pure decisions, one module a kind."""

from __future__ import annotations

from harness.lab.admission.decide import decide, kinds_needed, names_needed
from harness.lab.admission.request import Decision, Path, Request, World, parse_review

__all__ = [
    "Decision",
    "Path",
    "Request",
    "World",
    "decide",
    "kinds_needed",
    "names_needed",
    "parse_review",
]
