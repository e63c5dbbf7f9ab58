"""Run an agent and say what it spent.

This room owns the agent's door: its workspace, its line to the API server, its process or its chat.
It refuses to know what was achieved: no cluster client, no check, no score. `bench` calls it.
"""

from __future__ import annotations
