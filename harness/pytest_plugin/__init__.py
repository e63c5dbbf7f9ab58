"""Strandline under pytest: safety specs as items, and a live control plane as a fixture.

Imported once a run asks for it. What every run of whoever installs us loads is `strandline_pytest`,
which imports nothing but pytest.
"""

from __future__ import annotations
