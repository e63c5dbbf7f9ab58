"""What runs a laboratory beside the API server: processes of this machine, or pods."""

from __future__ import annotations
