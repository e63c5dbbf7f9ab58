"""A control plane as child processes: etcd, API server, controller manager, webhook."""

from __future__ import annotations
