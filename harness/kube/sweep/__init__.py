"""Take down what is ours, fast and provably, and name what is left and why.

Owns what a sweep may delete on the wire, in which order, and how it says what keeps the rest. It
never decides what is ours: its callers in `bench` have a record of that.
"""

from __future__ import annotations

from harness.kube.sweep.leftovers import Leftover, OnStep, Swept
from harness.kube.sweep.listing import (
    labelled_namespaces,
    list_cluster,
    list_settled,
    standing_uids,
)
from harness.kube.sweep.looking import Owned
from harness.kube.sweep.namespace import sweep_namespace
from harness.kube.sweep.order import PHASES, Phase
from harness.kube.sweep.owned import OwnedSweep

__all__ = [
    "PHASES",
    "Leftover",
    "OnStep",
    "Owned",
    "OwnedSweep",
    "Phase",
    "Swept",
    "labelled_namespaces",
    "list_cluster",
    "list_settled",
    "standing_uids",
    "sweep_namespace",
]
