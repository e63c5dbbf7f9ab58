"""What other people do in a task, as its file says it: before the agent begins, and beside it.

A story is data: who does what, how a wait was broken, and what becomes of the calls. `bench`
carries it out on a laboratory and keeps a witness of each act.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.model.frozen import Frozen, Identifier, Text
from harness.model.lab import EventType
from harness.model.verbs import (
    ApproveAct,
    AttestAct,
    CancelAct,
    InstrumentAct,
    Interruption,
    NoteAct,
    OrdersAct,
    ReleaseAct,
    ResumeAct,
    RunAct,
)

Role = Literal["previous-operator", "colleague", "approver"]

#: How a call may end: as asked and answered at once, or with the answer held back and the call
#: whole, never begun, cut off in the middle, done a second time.
FateName = Literal["answered", "whole", "nothing", "cut_off", "twice"]


class Truth(Frozen):
    """One of the worlds that a task may be in; the agent must find out which.

    Attributes:
        fates: Instrument to what becomes of its acting calls, in order; all after these are
            answered.
    """

    fates: dict[Text, tuple[FateName, ...]] = {}


class Act(Frozen):
    """One thing that somebody does: exactly one of the verbs.

    Attributes:
        by: Who; previous-operator where nothing is said. `orders`, `hold`, `let_go` and `release`
            are nobody's: the harness does them.
        only: Truths in which it is done; empty for all. Never in a history: what an agent can
            read when it begins must not hang on the truth.
    """

    by: Role = "previous-operator"
    only: tuple[Identifier, ...] = ()
    run: RunAct | None = None
    resume: ResumeAct | None = None
    cancel: CancelAct | None = None
    attest: AttestAct | None = None
    note: NoteAct | None = None
    approve: ApproveAct | None = None
    orders: OrdersAct | None = None
    hold: InstrumentAct | None = None
    let_go: InstrumentAct | None = None
    release: ReleaseAct | None = None

    @model_validator(mode="after")
    def _one_verb(self) -> Act:
        if len(self.verbs) != 1:
            found = ", ".join(self.verbs) or "none"
            msg = f"needs exactly one of {', '.join(_VERBS)}, found {found}"
            raise ValueError(msg)
        return self

    @property
    def interrupt(self) -> Interruption | None:
        """How the wait for its call is broken; None where it is not."""
        asked = self.run or self.resume
        return asked.interrupt if asked else None

    @property
    def verbs(self) -> tuple[str, ...]:
        """The verbs that are set."""
        return tuple(verb for verb in _VERBS if getattr(self, verb) is not None)


_VERBS = (
    "run",
    "resume",
    "cancel",
    "attest",
    "note",
    "approve",
    "orders",
    "hold",
    "let_go",
    "release",
)


class Trigger(Frozen):
    """What the agent must have done: all of what is set must hold of one and the same thing.

    Attributes:
        event: A LabEvent of this type came whose actor is the agent.
        reason: Its reason (`payload.reason`).
        capability: The capability that it names, or that the created run asks for.
        created: The agent created an object of this plural (`labruns`, `notes`, ...).
        touched: A request of the agent's named this object, refused or not.
        looked: The agent's own observing task succeeded.
    """

    event: EventType | None = None
    reason: Text | None = None
    capability: Text | None = None
    created: Text | None = None
    touched: Identifier | None = None
    looked: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> Trigger:
        things = [self.event, self.created, self.touched, self.looked]
        if sum(thing is not None for thing in things) != 1:
            msg = "needs exactly one of event, created, touched, looked"
            raise ValueError(msg)
        return self


class Part(Frozen):
    """What one person does as soon as the agent has done something.

    Attributes:
        name: For the witness.
        when: Its trigger.
        times: How often it is done, once for each thing that meets the trigger.
        do: Acts, in order.
    """

    name: Identifier
    when: Trigger
    times: Annotated[int, Field(ge=1, le=20)] = 1
    do: Annotated[tuple[Act, ...], Field(min_length=1)]
