"""What every room stands on: waiting, processes, names, files and documents."""

from __future__ import annotations
