"""The calls of a laboratory by name: a world in, a world out. Pure.

Knows nothing of time, of instruments being busy, or of who asked. Called when a call has run to
its end, and again when a journal is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from harness.lab.instruments.asked import Asked, CallError, Effect
from harness.lab.instruments.labware import (
    fetch_labware,
    locate_labware,
    move_labware,
    park_labware,
)
from harness.lab.instruments.samples import (
    anneal,
    dose_powder,
    irradiate,
    measure_color,
    measure_mass,
    mix_color,
    mix_components,
)
from harness.lab.instruments.world import World

_Calls = Mapping[str, Callable[[Asked], Effect]]

#: Calls that change the world.
_ACTS: _Calls = MappingProxyType(
    {
        "sim.anneal": anneal,
        "sim.dose_powder": dose_powder,
        "sim.fetch_labware": fetch_labware,
        "sim.irradiate": irradiate,
        "sim.mix_color": mix_color,
        "sim.mix_components": mix_components,
        "sim.move_labware": move_labware,
        "sim.park_labware": park_labware,
    }
)

#: Calls that only look at it.
_LOOKS: _Calls = MappingProxyType(
    {
        "sim.locate_labware": locate_labware,
        "sim.measure_color": measure_color,
        "sim.measure_mass": measure_mass,
    }
)


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
        return act(Asked(world=world, inputs=inputs, instrument=instrument, share=share))
    except CallError as error:
        return Effect(world=world, error=str(error))


def knows(capability: str) -> bool:
    """Tell whether there is such a call. Pure."""
    return capability in _ACTS or capability in _LOOKS


def acts(capability: str) -> bool:
    """Tell whether a call changes the world. Pure."""
    return capability in _ACTS
