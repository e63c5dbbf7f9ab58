"""What a capability says about its inputs, held against what a step gives.

Pure. Admission refuses what does not fit; the controller asks once more at dispatch, since a
capability may have changed since. Units are documentation: nothing is converted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from harness.model.lab import Capability, Parameter

#: Characters of a foreign value shown in a message.
_SHOWN_CHARS = 60

#: Units that say nothing: none given, and the unit of a plain ratio.
_NO_UNIT = ("", "1")


def capability_of(capabilities: Iterable[Capability], capability_id: str) -> Capability | None:
    """Return the capability with an id, least object name first; None when there is none. Pure."""
    found = [one for one in capabilities if one.spec.id == capability_id]
    return min(found, key=lambda one: one.name, default=None)


def input_problems(capability: Capability, inputs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one line for each input that is unknown, missing, of another type or out of range.

    Pure. Lines name the parameter and its unit, unknown ones first, then in declared order.
    """
    declared = {parameter.name: parameter for parameter in capability.spec.inputs}
    known = ", ".join(_described(parameter) for parameter in capability.spec.inputs) or "none"
    problems = [
        f"{capability.spec.id}: unknown input {_shown(name)}, expected {known}"
        for name in sorted(inputs.keys() - declared.keys())
    ]
    for name, parameter in declared.items():
        if name not in inputs:
            if parameter.required:
                problems.append(f"{capability.spec.id}: input {_described(parameter)} is missing")
        elif problem := _value_problem(parameter, inputs[name]):
            problems.append(f"{capability.spec.id}: input {name} {problem}")
    return tuple(problems)


def _value_problem(parameter: Parameter, value: Any) -> str | None:
    unit = f" {parameter.unit}" if parameter.unit not in _NO_UNIT else ""
    if not _has_type(parameter, value):
        return f"is {_shown(value)}, expected {parameter.type}{f' in{unit}' if unit else ''}"
    if parameter.type in {"number", "integer"}:
        if parameter.minimum is not None and value < parameter.minimum:
            return f"is {_shown(value)}{unit}, at least {parameter.minimum:g}{unit} expected"
        if parameter.maximum is not None and value > parameter.maximum:
            return f"is {_shown(value)}{unit}, at most {parameter.maximum:g}{unit} expected"
    return None


def _has_type(parameter: Parameter, value: Any) -> bool:
    match parameter.type:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            # An integer can be beyond what a float holds, and is then no number of a device.
            return is_number and abs(value) < 1e300 and math.isfinite(value)


def _described(parameter: Parameter) -> str:
    unit = f" in {parameter.unit}" if parameter.unit not in _NO_UNIT else ""
    return f"{parameter.name} ({parameter.type}{unit})"


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        return "a number too long to print"
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
