"""`python -m harness` is `strandline`."""

from __future__ import annotations

from harness.cli.main import main

main()
