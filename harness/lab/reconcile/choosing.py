"""Which instrument a step gets: one that fits, that nobody has, and that is in a known state.

Pure but for the claims, which the caller extends. Knows nothing of policy, approvals or records.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from harness.lab.reconcile.observed import Observed, last_dispatch, step_of
from harness.lab.reconcile.outcomes import IN_FLIGHT
from harness.model.lab import Capability, Instrument, LabRun, LabTask


@dataclass(slots=True, kw_only=True)
class Claims:
    """Which instruments one pass has given away, by name."""

    taken: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which instruments will do.

    Attributes:
        type: Their type.
        name: The one that the step names, or None.
        acts: Whether the call changes the world.
    """

    type: str
    name: str | None
    acts: bool

    @classmethod
    def of(cls, run: LabRun, task: LabTask, capability: Capability) -> Self:
        """Return what a step asks for."""
        step = step_of(run, task)
        return cls(
            type=capability.spec.instrument_type,
            name=step.instrument if step else None,
            acts=capability.spec.acts,
        )

    @property
    def words(self) -> str:
        """What is asked for, after an article."""
        kind = f"instrument of type {self.type!r}"
        return f"{kind} named {self.name!r}" if self.name else kind

    def fits(self, one: Instrument) -> bool:
        """Tell whether an instrument is one of them."""
        return one.spec.type == self.type and self.name in (None, one.name)


def free_instrument(
    observed: Observed,
    task: LabTask,
    wanted: Wanted,
    fitting: list[Instrument],
    claims: Claims,
) -> Instrument | None:
    """Return the first instrument that may be given to a task now, least name first. Pure."""
    at_work = {
        call.instrument
        for other in observed.tasks
        if other.name != task.name and other.status.state in IN_FLIGHT
        if (call := last_dispatch(other)) is not None
    }
    for one in sorted(fitting, key=lambda one: one.name):
        if one.name in claims.taken:
            continue
        # Looking is allowed while nobody knows what the instrument did: it is how one finds out.
        # Who names an instrument asks about that one, and gets in line behind what it does.
        if not wanted.acts and (
            wanted.name or (one.status.quarantined and one.name not in at_work)
        ):
            return one
        mine = one.status.held_by in ("", task.name) and not one.status.quarantined
        if mine and one.name not in at_work:
            return one
    return None
