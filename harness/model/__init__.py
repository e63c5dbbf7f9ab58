"""What is written to disk: suites, specs, evidence and results, as frozen models."""

from __future__ import annotations
