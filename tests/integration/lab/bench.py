"""What stands in a laboratory of these tests: instruments, capabilities, rules and steps."""

from __future__ import annotations

from typing import Any


def _parameter(name: str, kind: str, unit: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "unit": unit, **more}


_SAMPLE = _parameter("sample_id", "string")
_FRACTION = {"minimum": 0, "maximum": 1}
_MIX = [
    _SAMPLE,
    _parameter("red_fraction", "number", "1", **_FRACTION),
    _parameter("blue_fraction", "number", "1", **_FRACTION),
    _parameter("total_mass_g", "number", "g", minimum=0.001),
]
_MOVE = [
    _parameter("labware_id", "string"),
    _parameter("source", "string"),
    _parameter("destination", "string"),
]

#: Id to acts, type of instrument and inputs.
CATALOGUE: dict[str, tuple[bool, str, list[dict[str, Any]]]] = {
    "sim.mix_color": (True, "mixer", _MIX),
    "sim.measure_color": (False, "colorimeter", [_SAMPLE]),
    "sim.measure_mass": (False, "balance", [_SAMPLE]),
    "sim.move_labware": (True, "robot", _MOVE),
    "sim.read_log": (False, "mixer", []),
    "sim.read_gauge": (False, "mixer", []),
}


MIXER = {"name": "mixer-1", "type": "mixer", "latencySeconds": 1.0}
BALANCE = {"name": "balance-1", "type": "balance", "latencySeconds": 0.05}
COLORIMETER = {"name": "colorimeter-1", "type": "colorimeter", "latencySeconds": 0.05}
ROBOT = {"name": "robot-1", "type": "robot", "latencySeconds": 0.05}
MIX: dict[str, Any] = {
    "id": "mix",
    "capability": "sim.mix_color",
    "inputs": {"sample_id": "s1", "red_fraction": 0.5, "blue_fraction": 0.5, "total_mass_g": 5.0},
}
WEIGH: dict[str, Any] = {
    "id": "weigh",
    "capability": "sim.measure_mass",
    "inputs": {"sample_id": "s1"},
}
MOVE: dict[str, Any] = {
    "id": "move",
    "capability": "sim.move_labware",
    "inputs": {"labware_id": "p1", "source": "a", "destination": "b"},
}


#: The robot is under maintenance; everything else is allowed.
RULES = [
    {
        "id": "robot",
        "effect": "deny",
        "capability": "sim.move_labware",
        "reason": "robot under maintenance",
    },
    {"id": "everything", "effect": "allow", "reason": "a bench for tests"},
]
