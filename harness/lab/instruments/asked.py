"""One call as it is carried out: what was asked, how far it gets, and what comes of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness.lab.instruments.world import Vessel, World


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


class CallError(Exception):
    """A call cannot be carried out; becomes `Effect.error`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call as it is carried out: on which instrument, and how far it got."""

    world: World
    inputs: Mapping[str, Any]
    instrument: str
    share: float


def text_of(inputs: Mapping[str, Any], name: str) -> str:
    """Return a text among the inputs; CallError when it is none, or empty. Pure."""
    value = inputs.get(name)
    if not isinstance(value, str) or not value:
        msg = f"{name} is {value!r}, expected text"
        raise CallError(msg)
    return value


def number_of(inputs: Mapping[str, Any], name: str, unit: str) -> float:
    """Return a number among the inputs; CallError when it is none, or beyond all bounds. Pure."""
    value = inputs.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e9:
        msg = f"{name} is {value!r}, expected a number in {unit}"
        raise CallError(msg)
    return float(value)


def fraction_of(inputs: Mapping[str, Any], name: str) -> float:
    """Return a number from 0 to 1 among the inputs; CallError when it is another. Pure."""
    value = number_of(inputs, name, "1")
    if not 0.0 <= value <= 1.0:
        msg = f"{name} is {value:g}, expected 0 to 1"
        raise CallError(msg)
    return value


def vessel_of(asked: Asked) -> tuple[str, Vessel]:
    """Return the vessel that is asked about, with its id; CallError when there is none. Pure."""
    sample_id = text_of(asked.inputs, "sample_id")
    if sample_id not in asked.world.vessels:
        msg = f"unknown sample {sample_id!r}"
        raise CallError(msg)
    return sample_id, asked.world.vessels[sample_id]


def with_vessel(asked: Asked, sample_id: str, vessel: Vessel) -> World:
    """Return the world with another content of one vessel. Pure."""
    return replace(asked.world, vessels={**asked.world.vessels, sample_id: vessel})
