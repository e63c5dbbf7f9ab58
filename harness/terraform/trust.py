"""Whether a state that was found may be acted on, given what the journal says of the last one.

Pure. A state that is lost, older than the journal, or somebody else's makes Terraform answer "no
changes" or "nothing to destroy" with the world still there. `stack` asks before every operation.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.terraform.outcomes import Outcome
from harness.terraform.states import State


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptState:
    """What the last operation that ended left behind, as the journal has it.

    Attributes:
        lineage: Of the state.
        serial: Of the state.
        resources: How many managed resources it named.
    """

    lineage: str
    serial: int
    resources: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Distrust:
    """Why a state may not be acted on.

    Attributes:
        outcome: Which kind.
        said: What was expected and found.
    """

    outcome: Outcome
    said: str


def distrust(
    found: State | None, kept: KeptState | None, *, shared: bool, begun: bool
) -> Distrust | None:
    """Return why the state may not be acted on; None when it may. Pure.

    Args:
        found: The state; None where there is none.
        kept: What the journal expects; None when no operation of this copy ended yet.
        shared: Whether its place can be anybody's: a backend, and not a file of our copy.
        begun: Whether an apply of this copy began since `kept`.
    """
    if kept is None:
        return _unclaimed(found) if shared and not begun else None
    if found is not None and found.lineage == kept.lineage:
        return _older(found, kept)
    if found is None or not found.addresses:  # a backend puts an empty one in the place of none
        said = f"is gone; it named {kept.resources} resources at serial {kept.serial}"
        return Distrust(outcome=Outcome.STATE_LOST, said=said) if kept.resources else None
    if not kept.resources and begun:
        return None  # an empty state was thrown away, and a new one begun
    said = f"is another one: lineage {found.lineage}, expected {kept.lineage}"
    return Distrust(outcome=Outcome.STATE_FOREIGN, said=said)


def _unclaimed(found: State | None) -> Distrust | None:
    if found is None or not found.addresses:
        return None
    said = f"names {len(found.addresses)} resources that no apply of this copy made"
    return Distrust(outcome=Outcome.STATE_FOREIGN, said=said)


def _older(found: State, kept: KeptState) -> Distrust | None:
    if found.serial >= kept.serial:
        return None
    said = f"is older than the journal: serial {found.serial}, expected {kept.serial} or later"
    return Distrust(outcome=Outcome.STATE_OUTDATED, said=said)
