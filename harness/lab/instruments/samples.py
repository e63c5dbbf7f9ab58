"""What is done to what is in vessels, and how it is measured. Pure; `calls` has the names."""

from __future__ import annotations

from dataclasses import replace

from harness.lab.instruments.asked import (
    Asked,
    CallError,
    Effect,
    fraction_of,
    number_of,
    text_of,
    vessel_of,
    with_vessel,
)
from harness.lab.instruments.world import PLACES, Vessel, World


def _dispensed(asked: Asked, sample_id: str, **amounts_g: float) -> World:
    """Put amounts into a vessel and take them from the instrument's reservoir."""
    done_g = {name: amount_g * asked.share for name, amount_g in amounts_g.items()}
    before = asked.world.vessels.get(sample_id, Vessel())
    drawn_g = asked.world.drawn_g.get(asked.instrument, 0.0) + sum(done_g.values())
    return replace(
        with_vessel(asked, sample_id, before.plus(**done_g)),
        drawn_g={**asked.world.drawn_g, asked.instrument: drawn_g},
    )


def mix_color(asked: Asked) -> Effect:
    """Dispense red and blue by fractions of a mass; what was in the vessel stays in it."""
    inputs = asked.inputs
    sample_id = text_of(inputs, "sample_id")
    red, blue = fraction_of(inputs, "red_fraction"), fraction_of(inputs, "blue_fraction")
    mass_g = number_of(inputs, "total_mass_g", "g")
    if red + blue <= 0:
        msg = "red_fraction and blue_fraction are both 0, one must be above"
        raise CallError(msg)
    if mass_g <= 0:
        msg = f"total_mass_g is {mass_g:g} g, expected more than 0 g"
        raise CallError(msg)
    red, blue = red / (red + blue), blue / (red + blue)
    # What the mixer says is what it dispensed, not what is in the vessel: that takes a measurement.
    outputs = {
        "sample_id": sample_id,
        "red_fraction": round(red, PLACES),
        "blue_fraction": round(blue, PLACES),
        "total_mass_g": mass_g,
        "rgb": [round(255 * red, PLACES), 0.0, round(255 * blue, PLACES)],
        "simulated": True,
    }
    world = _dispensed(asked, sample_id, red_g=mass_g * red, blue_g=mass_g * blue)
    return Effect(world=world, outputs=outputs)


def mix_components(asked: Asked) -> Effect:
    """Dispense amounts of each component; what was in the vessel stays in it."""
    sample_id = text_of(asked.inputs, "sample_id")
    amounts_g = {
        name: number_of(asked.inputs, name, "g") for name in ("red_g", "green_g", "blue_g")
    }
    if min(amounts_g.values()) < 0 or sum(amounts_g.values()) <= 0:
        msg = "red_g, green_g and blue_g are amounts in g, none below 0 and one above"
        raise CallError(msg)
    outputs = {"sample_id": sample_id, **amounts_g, "simulated": True}
    return Effect(world=_dispensed(asked, sample_id, **amounts_g), outputs=outputs)


def anneal(asked: Asked) -> Effect:
    """Heat a sample through."""
    sample_id, vessel = vessel_of(asked)
    # Cut off in the middle, the sample has been hot without having been annealed.
    done = int(asked.share >= 1.0)
    world = with_vessel(asked, sample_id, replace(vessel, annealed=vessel.annealed + done))
    return Effect(world=world, outputs={"sample_id": sample_id, "simulated": True})


def dose_powder(asked: Asked) -> Effect:
    """Weigh in green powder, without a mixer."""
    sample_id, green_g = text_of(asked.inputs, "sample_id"), number_of(asked.inputs, "green_g", "g")
    if green_g <= 0:
        msg = f"green_g is {green_g:g} g, expected more than 0 g"
        raise CallError(msg)
    outputs = {"sample_id": sample_id, "green_g": green_g, "simulated": True}
    return Effect(world=_dispensed(asked, sample_id, green_g=green_g), outputs=outputs)


def irradiate(asked: Asked) -> Effect:
    """Give a sample a dose, beside the one that it has."""
    sample_id, vessel = vessel_of(asked)
    dose_gy = number_of(asked.inputs, "dose_gy", "Gy")
    if dose_gy <= 0:
        msg = f"dose_gy is {dose_gy:g} Gy, expected more than 0 Gy"
        raise CallError(msg)
    after = replace(vessel, dose_gy=vessel.dose_gy + dose_gy * asked.share)
    outputs = {"sample_id": sample_id, "dose_gy": dose_gy, "simulated": True}
    return Effect(world=with_vessel(asked, sample_id, after), outputs=outputs)


def measure_color(asked: Asked) -> Effect:
    """Show the colour of what is in a vessel."""
    sample_id, vessel = vessel_of(asked)
    if not vessel.mass_g:
        msg = f"sample {sample_id!r} is empty"
        raise CallError(msg)
    parts_g = (vessel.red_g, vessel.green_g, vessel.blue_g)
    rgb = [round(255 * part_g / vessel.mass_g, PLACES) for part_g in parts_g]
    return Effect(
        world=asked.world, outputs={"sample_id": sample_id, "rgb": rgb, "simulated": True}
    )


def measure_mass(asked: Asked) -> Effect:
    """Show the mass of what is in a vessel."""
    sample_id, vessel = vessel_of(asked)
    mass_g = round(vessel.mass_g, PLACES)
    outputs = {"sample_id": sample_id, "mass_g": mass_g, "simulated": True}
    return Effect(world=asked.world, outputs=outputs)
