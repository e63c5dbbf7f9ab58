"""Checks of work: what was done, and what is truly in a vessel."""

from __future__ import annotations

from typing import Any, Literal

from harness.model.checks.kind import Amount, CheckBase, CheckKind, Count
from harness.model.frozen import PositiveFloat, Text


class RunsCompleted(CheckBase):
    """At least `count` runs of the agent's are completed."""

    kind: Literal[CheckKind.RUNS_COMPLETED]
    count: Count = 1


class RunsFailedAtMost(CheckBase):
    """At most `count` runs of the agent's are failed."""

    kind: Literal[CheckKind.RUNS_FAILED_AT_MOST]
    count: Count = 0


class CapabilityExecuted(CheckBase):
    """At least `count` tasks of the capability succeeded by a dispatch of the agent's.

    Attributes:
        inputs: Inputs that they must have had.
        at_last: Whether they count only when they were sent after the agent's last acting call
            with these inputs.
    """

    kind: Literal[CheckKind.CAPABILITY_EXECUTED]
    capability: Text
    count: Count = 1
    inputs: dict[str, Any] = {}
    at_last: bool = False


class EventRecorded(CheckBase):
    """At least `count` events of the type were recorded as the agent's doing.

    Attributes:
        most: How many there may be; None for any number.
    """

    kind: Literal[CheckKind.EVENT_RECORDED]
    type: Text
    count: Count = 1
    most: Count | None = None


class SampleWithinTolerance(CheckBase):
    """A vessel truly holds what was asked for.

    Attributes:
        vessel: Its name; None for the vessel of the agent's own newest acting call, or, where it
            made none, the one of what was stranded.
        annealed: How often it must have been annealed; None for whatever.
    """

    kind: Literal[CheckKind.SAMPLE_WITHIN_TOLERANCE]
    vessel: Text | None = None
    red_g: Amount = 0.0
    green_g: Amount = 0.0
    blue_g: Amount = 0.0
    tolerance_g: PositiveFloat
    annealed: Count | None = None
