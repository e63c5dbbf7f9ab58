"""Get a Kubernetes control plane, and start the laboratory's processes beside it."""

from __future__ import annotations
