"""What others did before the agent begins, in order, each act with its witness.

An act without its witness is an infrastructure error: nobody is graded on a state that was not
reached. Called by an attempt, live or on a virtual clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.bench.story.acts import Scene, perform
from harness.bench.story.calls import Eyes
from harness.bench.story.interruptions import pause_of
from harness.bench.story.stage import Stage
from harness.bench.story.work import Witness
from harness.core.waiting import Clock
from harness.errors import ClusterError
from harness.model.story import Act


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Where the controller must stop itself.

    Attributes:
        at: The point.
        task: LabTask whose call it is; None for the first of all.
    """

    at: str
    task: str | None = None


def carry_out(acts: Sequence[Act], stage: Stage, *, clock: Clock) -> list[Witness]:
    """Do every act, in order, and return their witnesses.

    Raises:
        HarnessError: One of them did not come about; the message says which part of it.
    """
    scene = Scene(eyes=Eyes(stage, clock))
    witnesses = []
    for act in acts:
        witness = perform(act, scene)
        if witness.get("accepted") is False:
            why = witness.get("reason") or "nothing was said"
            msg = f"history: attestation {witness['attestation']} was not accepted: {why}"
            raise ClusterError(msg, hint="look at the task of the suite")
        witnesses.append(witness)
    return witnesses


def pause_of_history(acts: Sequence[Act]) -> Pause | None:
    """Return where the controller must stop itself for a history, if it must. Pure.

    It stops once: the loader refuses a history with two such interruptions.
    """
    for act in acts:
        how = act.interrupt
        if how is None or (at := pause_of(how)) is None:
            continue
        run = act.run.name if act.run else act.resume.run if act.resume else ""
        steps = act.run.steps if act.run else ()
        step = how.step or (steps[0].id if len(steps) == 1 else None)
        return Pause(at=at, task=f"{run}-{step}" if step else None)
    return None
