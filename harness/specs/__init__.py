"""Safety specs: what the guard rails must do, proved on the live cluster.

One engine judges a case; the gate is that engine on repeat. Nothing here knows agents, tasks or
grading; `bench` and the command line call it.
"""

from __future__ import annotations
