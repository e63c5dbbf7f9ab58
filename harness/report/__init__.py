"""A run's report for people, for continuous integration and for machines."""

from __future__ import annotations
