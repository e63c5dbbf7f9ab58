"""What the simulated calls do to vessels and labware. Pure: a world in, a world out.

Knows nothing of time, of instruments being busy, or of who asked. Called when a call has run to
its end, and again when a journal is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

#: Decimal places of what is measured: 0.000001 g is far below what any step of a task adds, and
#: hides the last bits of a sum of floats.
_PLACES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Vessel:
    """What is in a vessel.

    Attributes:
        red_g: Mass of red in it.
        blue_g: Mass of blue in it.
    """

    red_g: float = 0.0
    blue_g: float = 0.0

    @property
    def mass_g(self) -> float:
        """Mass of all that is in it."""
        return self.red_g + self.blue_g


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything that calls can change.

    Attributes:
        vessels: Sample id to vessel.
        labware: Labware id to location; labware that was never moved is nowhere known.
    """

    vessels: Mapping[str, Vessel] = field(default_factory=dict)
    labware: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a call came to: outputs, or an error with the world as it was.

    Attributes:
        world: The world after it.
        outputs: What was answered; empty with an error.
        error: One line, or empty.
    """

    world: World
    outputs: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


class _CallError(Exception):
    """A call cannot be carried out; becomes `Effect.error`."""


def perform(world: World, capability: str, inputs: Mapping[str, Any]) -> Effect:
    """Return the effect of a call. Pure; an impossible call is an error inside the effect."""
    act = _ACTS.get(capability)
    if act is None:
        return Effect(world=world, error=f"{capability!r} is no call of this laboratory")
    try:
        return act(world, inputs)
    except _CallError as error:
        return Effect(world=world, error=str(error))


def knows(capability: str) -> bool:
    """Tell whether there is such a call. Pure."""
    return capability in _ACTS


def _text(inputs: Mapping[str, Any], name: str) -> str:
    value = inputs.get(name)
    if not isinstance(value, str) or not value:
        msg = f"{name} is {value!r}, expected text"
        raise _CallError(msg)
    return value


def _number(inputs: Mapping[str, Any], name: str, unit: str) -> float:
    value = inputs.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e9:
        msg = f"{name} is {value!r}, expected a number in {unit}"
        raise _CallError(msg)
    return float(value)


def _fraction(inputs: Mapping[str, Any], name: str) -> float:
    value = _number(inputs, name, "1")
    if not 0.0 <= value <= 1.0:
        msg = f"{name} is {value:g}, expected 0 to 1"
        raise _CallError(msg)
    return value


def _vessel(world: World, inputs: Mapping[str, Any]) -> tuple[str, Vessel]:
    sample_id = _text(inputs, "sample_id")
    if sample_id not in world.vessels:
        msg = f"unknown sample {sample_id!r}"
        raise _CallError(msg)
    return sample_id, world.vessels[sample_id]


def _mix_color(world: World, inputs: Mapping[str, Any]) -> Effect:
    sample_id = _text(inputs, "sample_id")
    red, blue = _fraction(inputs, "red_fraction"), _fraction(inputs, "blue_fraction")
    mass_g = _number(inputs, "total_mass_g", "g")
    if red + blue <= 0:
        msg = "red_fraction and blue_fraction are both 0, one must be above"
        raise _CallError(msg)
    if mass_g <= 0:
        msg = f"total_mass_g is {mass_g:g} g, expected more than 0 g"
        raise _CallError(msg)
    before = world.vessels.get(sample_id, Vessel())
    red, blue = red / (red + blue), blue / (red + blue)
    after = Vessel(red_g=before.red_g + mass_g * red, blue_g=before.blue_g + mass_g * blue)
    # What the mixer says is what it dispensed, not what is in the vessel: that takes a measurement.
    outputs = {
        "sample_id": sample_id,
        "red_fraction": round(red, _PLACES),
        "blue_fraction": round(blue, _PLACES),
        "total_mass_g": mass_g,
        "rgb": [round(255 * red, _PLACES), 0.0, round(255 * blue, _PLACES)],
        "simulated": True,
    }
    return Effect(
        world=replace(world, vessels={**world.vessels, sample_id: after}), outputs=outputs
    )


def _measure_color(world: World, inputs: Mapping[str, Any]) -> Effect:
    sample_id, vessel = _vessel(world, inputs)
    rgb = [
        round(255 * vessel.red_g / vessel.mass_g, _PLACES),
        0.0,
        round(255 * vessel.blue_g / vessel.mass_g, _PLACES),
    ]
    return Effect(world=world, outputs={"sample_id": sample_id, "rgb": rgb, "simulated": True})


def _measure_mass(world: World, inputs: Mapping[str, Any]) -> Effect:
    sample_id, vessel = _vessel(world, inputs)
    mass_g = round(vessel.mass_g, _PLACES)
    return Effect(
        world=world, outputs={"sample_id": sample_id, "mass_g": mass_g, "simulated": True}
    )


def _move_labware(world: World, inputs: Mapping[str, Any]) -> Effect:
    labware_id = _text(inputs, "labware_id")
    source, destination = _text(inputs, "source"), _text(inputs, "destination")
    known = world.labware.get(labware_id, source)
    if known != source:
        msg = f"labware {labware_id!r} is at {known!r}, not at {source!r}"
        raise _CallError(msg)
    outputs = {
        "labware_id": labware_id,
        "source": source,
        "destination": destination,
        "simulated": True,
    }
    return Effect(
        world=replace(world, labware={**world.labware, labware_id: destination}), outputs=outputs
    )


def _locate_labware(world: World, inputs: Mapping[str, Any]) -> Effect:
    labware_id = _text(inputs, "labware_id")
    if labware_id not in world.labware:
        msg = f"unknown labware {labware_id!r}"
        raise _CallError(msg)
    outputs = {"labware_id": labware_id, "location": world.labware[labware_id], "simulated": True}
    return Effect(world=world, outputs=outputs)


_ACTS: Mapping[str, Callable[[World, Mapping[str, Any]], Effect]] = MappingProxyType(
    {
        "sim.mix_color": _mix_color,
        "sim.measure_color": _measure_color,
        "sim.measure_mass": _measure_mass,
        "sim.move_labware": _move_labware,
        "sim.locate_labware": _locate_labware,
    }
)
