"""How labware is moved, and where it is. Pure; `calls` has the names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.lab.instruments.asked import Asked, CallError, Effect, text_of

#: Where labware is parked that goes from one room to another in two steps.
_HATCH = "hatch"


def move_labware(asked: Asked) -> Effect:
    """Move labware from where it is said to be, and is."""
    inputs, labware = asked.inputs, asked.world.labware
    labware_id = text_of(inputs, "labware_id")
    source, destination = text_of(inputs, "source"), text_of(inputs, "destination")
    known = labware.get(labware_id, source)
    if known != source:
        msg = f"labware {labware_id!r} is at {known!r}, not at {source!r}"
        raise CallError(msg)
    outputs = {
        "labware_id": labware_id,
        "source": source,
        "destination": destination,
        "simulated": True,
    }
    reached = destination if asked.share >= 1.0 else source
    world = replace(asked.world, labware={**labware, labware_id: reached})
    return Effect(world=world, outputs=outputs)


def park_labware(asked: Asked) -> Effect:
    """Move labware to the hatch."""
    return _by_the_hatch(asked, {**asked.inputs, "destination": _HATCH})


def fetch_labware(asked: Asked) -> Effect:
    """Move labware from the hatch."""
    labware_id = text_of(asked.inputs, "labware_id")
    if asked.world.labware.get(labware_id) != _HATCH:
        msg = f"labware {labware_id!r} is not at {_HATCH!r}"
        raise CallError(msg)
    return _by_the_hatch(asked, {**asked.inputs, "source": _HATCH})


def _by_the_hatch(asked: Asked, inputs: Mapping[str, Any]) -> Effect:
    moved = move_labware(replace(asked, inputs=inputs))
    reached = moved.outputs["destination"]
    outputs = {"labware_id": moved.outputs["labware_id"], "location": reached, "simulated": True}
    return replace(moved, outputs=outputs)


def locate_labware(asked: Asked) -> Effect:
    """Say where labware is that was ever moved."""
    labware_id = text_of(asked.inputs, "labware_id")
    if labware_id not in asked.world.labware:
        msg = f"unknown labware {labware_id!r}"
        raise CallError(msg)
    location = asked.world.labware[labware_id]
    outputs = {"labware_id": labware_id, "location": location, "simulated": True}
    return Effect(world=asked.world, outputs=outputs)
