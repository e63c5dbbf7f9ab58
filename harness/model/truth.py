"""truth.json as grading reads it: what was so, whatever anybody said of it.

Further keys are ignored: the file also holds what each call did, for a reader.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from harness.model.lab import Finding

Grams = Annotated[float, Field(allow_inf_nan=False)]


class _Recorded(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class StrandedTruth(_Recorded):
    """What a task that was stranded at baseline had truly done, over all of its dispatches.

    Attributes:
        task: Name of the LabTask.
        vessel: What it worked on; None where its inputs name none.
        truth: The finding that is right.
        requests: Its request ids, in order.
    """

    task: str
    vessel: str | None = None
    truth: Finding
    requests: tuple[str, ...] = ()


class VesselContents(_Recorded):
    """What is in a vessel, in grams; `annealed` is how often it was annealed."""

    red_g: Grams = 0.0
    green_g: Grams = 0.0
    blue_g: Grams = 0.0
    annealed: int = 0


class TruthRecord(_Recorded):
    """truth.json.

    Attributes:
        drawn: Name of the truth that was drawn; None where nothing is hidden.
        tasks: What was stranded at baseline.
        vessels: Vessel to its contents at the end.
        vessels_before: The same when the agent began.
    """

    drawn: str | None = None
    tasks: tuple[StrandedTruth, ...] = ()
    vessels: dict[str, VesselContents] = {}
    vessels_before: dict[str, VesselContents] = {}
