"""Clusters made by the kind command line, with Docker or podman."""

from __future__ import annotations
