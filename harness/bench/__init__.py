"""The one composer: it knows both sides of the evidence, and makes a run of the other rooms."""

from __future__ import annotations
