"""The broken state of a task with a `setup`: one run of the previous operator's, left stranded.

A setup is a history of one act in fewer words, and is carried out as one: nothing is ever written
into a status, and what does not land in time is an infrastructure error. Called by an attempt.
"""

from __future__ import annotations

from typing import Any

from harness.bench.story.history import carry_out
from harness.bench.story.stage import Stage
from harness.core.waiting import Clock
from harness.model.story import Act
from harness.model.suite import Setup
from harness.model.verbs import Interruption, RunAct, StoryStep

_RUN, _STEP = "night-shift", "mix"


def acts_of(setup: Setup | None) -> tuple[Act, ...]:
    """Return the history that a setup stands for; none without a setup. Pure."""
    if setup is None:
        return ()
    if setup.cancel_after_seconds is None:
        how = Interruption(kind="controller_killed", at="after_send")
    else:
        how = Interruption(kind="cancelled", after_seconds=setup.cancel_after_seconds)
    step = StoryStep(id=_STEP, capability=setup.capability, inputs=setup.inputs)
    return (Act(run=RunAct(name=_RUN, steps=(step,), interrupt=how)),)


def perform(setup: Setup, stage: Stage, *, clock: Clock) -> dict[str, Any]:
    """Reach the broken state and return its witness: uids, requestId, acceptedAt, truthFinalAt.

    Raises:
        WaitTimeoutError: A part of it did not come about; the message says which.
        ClusterError: The run ended otherwise, for example because an instrument refused.
    """
    (witness,) = carry_out(acts_of(setup), stage, clock=clock)
    uids = witness["uids"]
    return {
        "uids": {"run": uids[_RUN], "task": uids[f"{_RUN}-{_STEP}"]},
        **{fact: witness[fact] for fact in ("requestId", "acceptedAt", "truthFinalAt")},
    }
