"""The binaries of a control plane, of Terraform's provider and of OpenTofu: found or built."""

from __future__ import annotations

from harness.cluster.toolchain.places import Found, Search
from harness.cluster.toolchain.toolchain import Toolchain, default_cache_dir

__all__ = ["Found", "Search", "Toolchain", "default_cache_dir"]
