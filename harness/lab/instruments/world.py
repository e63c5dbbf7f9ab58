"""What calls change: vessels, labware, and what was drawn from reservoirs. Pure data.

Knows nothing of calls, of time or of instruments being busy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

#: Decimal places of what is measured: 0.000001 g is far below what any step of a task adds, and
#: hides the last bits of a sum of floats.
PLACES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Vessel:
    """What is in a vessel.

    Attributes:
        red_g: Mass of red in it.
        green_g: Mass of green in it.
        blue_g: Mass of blue in it.
        annealed: How often it was annealed.
        dose_gy: Dose that it got, in gray.
    """

    red_g: float = 0.0
    green_g: float = 0.0
    blue_g: float = 0.0
    annealed: int = 0
    dose_gy: float = 0.0

    @property
    def mass_g(self) -> float:
        """Mass of all that is in it."""
        return self.red_g + self.green_g + self.blue_g

    def plus(self, *, red_g: float = 0.0, green_g: float = 0.0, blue_g: float = 0.0) -> Vessel:
        """Return it with more in it. Pure."""
        return replace(
            self,
            red_g=self.red_g + red_g,
            green_g=self.green_g + green_g,
            blue_g=self.blue_g + blue_g,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything that calls can change.

    Attributes:
        vessels: Sample id to vessel.
        labware: Labware id to location; labware that was never moved is nowhere known.
        drawn_g: Instrument to the mass that was drawn from its reservoir.
    """

    vessels: Mapping[str, Vessel] = field(default_factory=dict)
    labware: Mapping[str, str] = field(default_factory=dict)
    drawn_g: Mapping[str, float] = field(default_factory=dict)


def world_of(world: World) -> dict[str, Any]:
    """Return what stands on the bench as JSON: vessels and labware by id. Pure."""
    return {
        "vessels": {
            sample_id: {
                "red_g": round(vessel.red_g, PLACES),
                "green_g": round(vessel.green_g, PLACES),
                "blue_g": round(vessel.blue_g, PLACES),
                "annealed": vessel.annealed,
                "dose_gy": round(vessel.dose_gy, PLACES),
            }
            for sample_id, vessel in sorted(world.vessels.items())
        },
        "labware": dict(sorted(world.labware.items())),
    }
