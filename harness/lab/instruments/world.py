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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One call as it is carried out: on which instrument, and how far it got."""

    world: World
    inputs: Mapping[str, Any]
    instrument: str
    share: float


def perform(
    world: World,
    capability: str,
    inputs: Mapping[str, Any],
    *,
    instrument: str = "",
    share: float = 1.0,
) -> Effect:
    """Return the effect of a call. Pure; an impossible call is an error inside the effect.

    Args:
        world: What there is.
        capability: What is done.
        inputs: In the capability's units.
        instrument: Which one does it; what it uses up is drawn from its reservoir.
        share: How much of it was done before the instrument stopped, from 0 to 1.
    """
    act = _ACTS.get(capability) or _LOOKS.get(capability)
    if act is None:
        return Effect(world=world, error=f"{capability!r} is no call of this laboratory")
    try:
        return act(_Asked(world=world, inputs=inputs, instrument=instrument, share=share))
    except _CallError as error:
        return Effect(world=world, error=str(error))


def knows(capability: str) -> bool:
    """Tell whether there is such a call. Pure."""
    return capability in _ACTS or capability in _LOOKS


def acts(capability: str) -> bool:
    """Tell whether a call changes the world. Pure."""
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


def _vessel(asked: _Asked) -> tuple[str, Vessel]:
    sample_id = _text(asked.inputs, "sample_id")
    if sample_id not in asked.world.vessels:
        msg = f"unknown sample {sample_id!r}"
        raise _CallError(msg)
    return sample_id, asked.world.vessels[sample_id]


def _with_vessel(asked: _Asked, sample_id: str, vessel: Vessel) -> World:
    return replace(asked.world, vessels={**asked.world.vessels, sample_id: vessel})


def _dispensed(asked: _Asked, sample_id: str, **amounts_g: float) -> World:
    """Put amounts into a vessel and take them from the instrument's reservoir."""
    done_g = {name: amount_g * asked.share for name, amount_g in amounts_g.items()}
    before = asked.world.vessels.get(sample_id, Vessel())
    drawn_g = asked.world.drawn_g.get(asked.instrument, 0.0) + sum(done_g.values())
    return replace(
        _with_vessel(asked, sample_id, before.plus(**done_g)),
        drawn_g={**asked.world.drawn_g, asked.instrument: drawn_g},
    )


def _mix_color(asked: _Asked) -> Effect:
    inputs = asked.inputs
    sample_id = _text(inputs, "sample_id")
    red, blue = _fraction(inputs, "red_fraction"), _fraction(inputs, "blue_fraction")
    mass_g = _number(inputs, "total_mass_g", "g")
    if red + blue <= 0:
        msg = "red_fraction and blue_fraction are both 0, one must be above"
        raise _CallError(msg)
    if mass_g <= 0:
        msg = f"total_mass_g is {mass_g:g} g, expected more than 0 g"
        raise _CallError(msg)
    red, blue = red / (red + blue), blue / (red + blue)
    # What the mixer says is what it dispensed, not what is in the vessel: that takes a measurement.
    outputs = {
        "sample_id": sample_id,
        "red_fraction": round(red, _PLACES),
        "blue_fraction": round(blue, _PLACES),
        "total_mass_g": mass_g,
        "rgb": [round(255 * red, _PLACES), 0.0, round(255 * blue, _PLACES)],
        "simulated": True,
    }
    world = _dispensed(asked, sample_id, red_g=mass_g * red, blue_g=mass_g * blue)
    return Effect(world=world, outputs=outputs)


def _mix_components(asked: _Asked) -> Effect:
    sample_id = _text(asked.inputs, "sample_id")
    amounts_g = {name: _number(asked.inputs, name, "g") for name in ("red_g", "green_g", "blue_g")}
    if min(amounts_g.values()) < 0 or sum(amounts_g.values()) <= 0:
        msg = "red_g, green_g and blue_g are amounts in g, none below 0 and one above"
        raise _CallError(msg)
    outputs = {"sample_id": sample_id, **amounts_g, "simulated": True}
    return Effect(world=_dispensed(asked, sample_id, **amounts_g), outputs=outputs)


def _anneal(asked: _Asked) -> Effect:
    sample_id, vessel = _vessel(asked)
    # Cut off in the middle, the sample has been hot without having been annealed.
    done = int(asked.share >= 1.0)
    world = _with_vessel(asked, sample_id, replace(vessel, annealed=vessel.annealed + done))
    return Effect(world=world, outputs={"sample_id": sample_id, "simulated": True})


def _irradiate(asked: _Asked) -> Effect:
    sample_id, vessel = _vessel(asked)
    dose_gy = _number(asked.inputs, "dose_gy", "Gy")
    if dose_gy <= 0:
        msg = f"dose_gy is {dose_gy:g} Gy, expected more than 0 Gy"
        raise _CallError(msg)
    after = replace(vessel, dose_gy=vessel.dose_gy + dose_gy * asked.share)
    outputs = {"sample_id": sample_id, "dose_gy": dose_gy, "simulated": True}
    return Effect(world=_with_vessel(asked, sample_id, after), outputs=outputs)


def _measure_color(asked: _Asked) -> Effect:
    sample_id, vessel = _vessel(asked)
    if not vessel.mass_g:
        msg = f"sample {sample_id!r} is empty"
        raise _CallError(msg)
    parts_g = (vessel.red_g, vessel.green_g, vessel.blue_g)
    rgb = [round(255 * part_g / vessel.mass_g, _PLACES) for part_g in parts_g]
    return Effect(
        world=asked.world, outputs={"sample_id": sample_id, "rgb": rgb, "simulated": True}
    )


def _measure_mass(asked: _Asked) -> Effect:
    sample_id, vessel = _vessel(asked)
    mass_g = round(vessel.mass_g, _PLACES)
    outputs = {"sample_id": sample_id, "mass_g": mass_g, "simulated": True}
    return Effect(world=asked.world, outputs=outputs)


def _move_labware(asked: _Asked) -> Effect:
    inputs, labware = asked.inputs, asked.world.labware
    labware_id = _text(inputs, "labware_id")
    source, destination = _text(inputs, "source"), _text(inputs, "destination")
    known = labware.get(labware_id, source)
    if known != source:
        msg = f"labware {labware_id!r} is at {known!r}, not at {source!r}"
        raise _CallError(msg)
    outputs = {
        "labware_id": labware_id,
        "source": source,
        "destination": destination,
        "simulated": True,
    }
    reached = destination if asked.share >= 1.0 else source
    world = replace(asked.world, labware={**labware, labware_id: reached})
    return Effect(world=world, outputs=outputs)


def _locate_labware(asked: _Asked) -> Effect:
    labware_id = _text(asked.inputs, "labware_id")
    if labware_id not in asked.world.labware:
        msg = f"unknown labware {labware_id!r}"
        raise _CallError(msg)
    location = asked.world.labware[labware_id]
    outputs = {"labware_id": labware_id, "location": location, "simulated": True}
    return Effect(world=asked.world, outputs=outputs)


_Calls = Mapping[str, Callable[[_Asked], Effect]]

#: Calls that change the world.
_ACTS: _Calls = MappingProxyType(
    {
        "sim.anneal": _anneal,
        "sim.irradiate": _irradiate,
        "sim.mix_color": _mix_color,
        "sim.mix_components": _mix_components,
        "sim.move_labware": _move_labware,
    }
)

#: Calls that only look at it.
_LOOKS: _Calls = MappingProxyType(
    {
        "sim.locate_labware": _locate_labware,
        "sim.measure_color": _measure_color,
        "sim.measure_mass": _measure_mass,
    }
)
