"""Finding out what became of a call: by weight, by colour, by the mixer's log, by its gauge.

Each way asks for an observing run, reads what it answered, and says how much of the call was done.
Nothing here knows a task or what is true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lab import Lab, Object
from working import carry_out, outputs_of, state_of, step

_COMPONENTS = ("red_g", "green_g", "blue_g")

#: How far a share may be off a whole number. Half a call is 0.5 off; the errors of the instruments
#: that are used here are below 0.05.
_SLACK = 0.2


@dataclass(frozen=True)
class Seen:
    """What was seen of a call.

    Attributes:
        share: How often it was done: 0, 1, 2, or something between.
        basis: What was read, in words.
        evidence: References to what was read.
    """

    share: float
    basis: str
    evidence: tuple[Object, ...]


def finding_of(share: float) -> str:
    """Return the finding that a share stands for."""
    if abs(share) <= _SLACK:
        return "did_not_occur"
    return "completed" if abs(share - 1) <= _SLACK else "abandoned"


def weigh(lab: Lab, task: Object) -> Seen:
    """Weigh the vessel, on the balance that reads best."""
    balances = [one for one in lab.list("instruments") if one["spec"]["type"] == "balance"]
    balance = min(balances, key=_noise)["metadata"]["name"]
    vessel = _vessel(task)
    look = _look(lab, task, "weigh", "sim.measure_mass", balance, sample_id=vessel)
    mass_g, before_g = float(look.outputs["mass_g"]), sum(_content(lab, task).values())
    share = (mass_g - before_g) / _amount(task)
    basis = (
        f"{balance} reads {mass_g} g in vessel {vessel!r}; {before_g:g} g were in it before, and "
        f"{_amount(task):g} g were to be added"
    )
    return Seen(share, basis, look.evidence)


def see_colour(lab: Lab, task: Object) -> Seen:
    """Look at the colour of the vessel, which shifts with what was added."""
    vessel = _vessel(task)
    look = _look(lab, task, "colour", "sim.measure_color", None, sample_id=vessel)
    before = _content(lab, task)
    green = look.outputs["rgb"][1] / 255
    # Only the carrier is green, so its share of the colour says how much there is in all.
    share = (before["green_g"] / green - sum(before.values())) / _amount(task)
    basis = f"vessel {vessel!r} has the colour {look.outputs['rgb']}"
    return Seen(share, basis, look.evidence)


def read_log(lab: Lab, task: Object) -> Seen | None:
    """Read the mixer's own log; None when it does not reach back to the call."""
    mixer = _mixer(task)
    look = _look(lab, task, "log", "sim.read_log", mixer)
    calls = task["status"]["dispatches"]
    requests = {call["requestId"] for call in calls}
    events = [one["event"] for one in look.outputs["entries"] if one["requestId"] in requests]
    if not events:
        return None
    begun, ended = events.count("started"), events.count("finished")
    share = float(ended) if begun == ended else ended + 0.5
    basis = f"the log of {mixer} says of {', '.join(sorted(requests))}: {', '.join(events)}"
    return Seen(share, basis, look.evidence)


def read_gauge(lab: Lab, task: Object) -> Seen:
    """Read what is left in the mixer's reservoir."""
    mixer = _mixer(task)
    look = _look(lab, task, "gauge", "sim.read_gauge", mixer)
    instrument = lab.get("instruments", mixer) or {}
    level_g = float(look.outputs["level_g"])
    drawn_g = instrument["spec"]["simulation"]["reservoirGrams"] - level_g
    known_g = sum(
        _amount(one)
        for one in _done(lab, task)
        if one["status"]["dispatches"][-1]["instrument"] == mixer
    )
    share = (drawn_g - known_g) / _amount(task)
    basis = f"the gauge of {mixer} reads {level_g} g; the calls on record drew {known_g:g} g"
    return Seen(share, basis, look.evidence)


@dataclass(frozen=True)
class _Look:
    outputs: Object
    evidence: tuple[Object, ...]


def _look(
    lab: Lab, task: Object, name: str, capability: str, instrument: str | None, **inputs: str
) -> _Look:
    run = f"{name}-{task['metadata']['name']}"
    carry_out(lab, run, step("look", capability, instrument, **inputs))
    outputs = outputs_of(lab, run)["look"]
    return _Look(outputs, ({"kind": "LabTask", "name": f"{run}-look"},))


def _noise(instrument: Object) -> float:
    return float((instrument["spec"].get("simulation") or {}).get("noiseGrams", 0))


def _vessel(task: Object) -> str:
    return str(task["spec"]["inputs"]["sample_id"])


def _mixer(task: Object) -> str:
    return str(task["status"]["dispatches"][-1]["instrument"])


def _amount(task: Object) -> float:
    return sum(float(task["spec"]["inputs"].get(name, 0)) for name in _COMPONENTS)


def _done(lab: Lab, task: Object) -> list[Object]:
    """Return the other tasks of which it is on record that they put something somewhere."""
    return [
        one
        for one in lab.list("labtasks")
        if one["metadata"]["name"] != task["metadata"]["name"]
        and state_of(one) == "succeeded"
        and one["spec"]["capability"] == "sim.mix_components"
    ]


def _content(lab: Lab, task: Object) -> dict[str, float]:
    """Return what is on record as being in the vessel, without the call in question."""
    there = [one for one in _done(lab, task) if _vessel(one) == _vessel(task)]
    return {
        name: sum(float(one["spec"]["inputs"].get(name, 0)) for one in there)
        for name in _COMPONENTS
    }


#: A way of looking.
Look = Callable[[Lab, Object], Seen]
