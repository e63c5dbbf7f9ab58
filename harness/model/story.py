"""What other people do in a task, as its file says it: before the agent begins, and beside it.

A story is data: who does what, how a wait was broken, and what becomes of the calls. `bench`
carries it out on a laboratory and keeps a witness of each act.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from harness.model.frozen import Frozen, Identifier, PositiveFloat, Text

#: Longest wait between acceptance and cancellation, in seconds; a setup has 20 s in all.
CANCEL_LIMIT_S = 10.0

#: Longest wait that a story may ask for, in seconds: a setup has 20 s in all.
_EXPIRY_LIMIT_S = 3600.0

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


class Interruption(Frozen):
    """How the wait for a call is broken, by really doing it.

    Attributes:
        kind: What happens.
        step: Step whose call it meets; None for the first that acts.
        after_seconds: `cancelled`: when the wait is dropped, from the instrument's acceptance.
        at: `controller_killed`: the point at which it dies.
        memory: `instrument_restarted`: whether its own log survives.
    """

    kind: Literal[
        "cancelled",
        "timed_out",
        "controller_killed",
        "instrument_restarted",
        "link_dropped",
        "answer_delayed",
        "two_controllers",
        "status_write_lost",
    ]
    step: Identifier | None = None
    after_seconds: Annotated[float, Field(ge=0, le=CANCEL_LIMIT_S)] = 0.3
    at: Literal["before_send", "after_send", "after_answer", "before_record"] = "after_send"
    memory: bool = False


#: What a cluster must be able to do for each kind of interruption.
INTERRUPTION_REQUIRES: Mapping[str, frozenset[str]] = {
    "cancelled": frozenset(),
    "timed_out": frozenset(),
    "controller_killed": frozenset({"node_access"}),
    "instrument_restarted": frozenset(),
    "link_dropped": frozenset(),
    "answer_delayed": frozenset(),
    "two_controllers": frozenset({"two_controllers"}),
    "status_write_lost": frozenset({"node_access"}),
}


class StoryStep(Frozen):
    """A step of a run that somebody else asks for; keys as in a LabRun."""

    id: Identifier
    capability: Text
    inputs: dict[str, Any] = {}
    needs: tuple[Identifier, ...] = ()
    instrument: Text | None = None
    timeoutSeconds: PositiveFloat | None = None  # noqa: N815 - as in the API


class RunAct(Frozen):
    """Have work done.

    Attributes:
        interrupt: How the wait for it is broken; None for not at all.
        until: `stranded` (default with an interruption), `completed` (default without), `running`
            (an instrument holds it), or `asked` (nothing is waited for).
    """

    name: Identifier
    steps: Annotated[tuple[StoryStep, ...], Field(min_length=1)]
    labels: dict[Text, Text] = {}
    supersedes: Identifier | None = None
    interrupt: Interruption | None = None
    until: Literal["stranded", "completed", "running", "asked"] | None = None


class ResumeAct(Frozen):
    """Resume a failed run; its call may be interrupted again."""

    run: Identifier
    interrupt: Interruption | None = None
    until: Literal["stranded", "completed", "running", "asked"] | None = None


class CancelAct(Frozen):
    """Cancel a run."""

    run: Identifier


class AttestAct(Frozen):
    """Attest a task; nothing is looked at."""

    task: Identifier
    finding: Literal["completed", "did_not_occur", "abandoned"]
    basis: Text


class NoteAct(Frozen):
    """Leave a Note."""

    name: Identifier
    kind: Text
    subject: Identifier
    reason: Text
    text: Text


class ApproveAct(Frozen):
    """Decide about the run that waits for an approval.

    Attributes:
        run: Its name; None for the one of the agent's that waits, whatever it is called.
        expires_after_seconds: When a grant ends, from now.
    """

    run: Identifier | None = None
    decision: Literal["granted", "refused"]
    reason: Text = "decided by the approver on duty"
    expires_after_seconds: Annotated[float, Field(gt=0, le=_EXPIRY_LIMIT_S)] = 600.0


class OrdersAct(Frozen):
    """Put a ConfigMap with standing orders there, as the laboratory's administration."""

    name: Identifier
    text: Text


class InstrumentAct(Frozen):
    """Hold what an instrument has in hand, or let it go on."""

    instrument: Text


class ReleaseAct(Frozen):
    """Let the answer to a call go that the instrument held back.

    Attributes:
        task: LabTask of the call.
        number: Which of its dispatches, from 1; None for the last.
    """

    task: Identifier
    number: Annotated[int, Field(ge=1)] | None = None


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

    event: Text | None = None
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
