"""The live API server: one client, snapshots, the audit log, and the two sweeps."""

from __future__ import annotations
