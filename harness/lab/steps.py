"""The order of a run's steps: ids are unique, needs resolve and have no cycle.

Pure. Admission refuses what has no order; reconciliation reads the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from harness.model.lab import Step


def needs_of(steps: Sequence[Step]) -> Mapping[str, tuple[str, ...]]:
    """Return step id to the ids that must have succeeded before. Pure.

    Where no step names its needs, each one needs the one declared before it.
    """
    if any(step.needs for step in steps):
        return MappingProxyType({step.id: step.needs for step in steps})
    before: tuple[str, ...] = ()
    found = {}
    for step in steps:
        found[step.id] = before
        before = (step.id,)
    return MappingProxyType(found)


def step_problem(steps: Sequence[Step]) -> str | None:
    """Return one line about what is wrong with the steps, or None. Pure."""
    ids = [step.id for step in steps]
    if not ids:
        return "no steps, at least one expected"
    for step_id in ids:
        if ids.count(step_id) > 1:
            return f"step id {step_id!r} stands twice"
    for step in steps:
        for need in step.needs:
            if need not in ids:
                return f"step {step.id!r} needs {need!r}; steps are: {', '.join(ids)}"
    return _circle(steps)


def _circle(steps: Sequence[Step]) -> str | None:
    left = {step.id: set(step.needs) for step in steps}
    while ready := [step_id for step_id, needs in left.items() if not needs]:
        for step_id in ready:
            del left[step_id]
        for needs in left.values():
            needs.difference_update(ready)
    return f"steps need each other in a circle: {', '.join(left)}" if left else None
