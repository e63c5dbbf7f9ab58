"""What each verb of a story takes, and how the wait for a call is broken.

Data only; `story` says who does it and when.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.model.frozen import Frozen, Identifier, PositiveFloat, Text

#: Longest wait between acceptance and cancellation, in seconds; a setup has 20 s in all.
CANCEL_LIMIT_S = 10.0

#: Longest time that a grant of a story is in force, in seconds: longer than any attempt.
_EXPIRY_LIMIT_S = 3600.0


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
