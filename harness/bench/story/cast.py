"""The other people of a task: each does what the task says as soon as the agent did something.

A step looks at what the agent has done since, does what is due, and keeps a witness of it; it may
be taken at any time, by a thread or by a virtual clock. Refuses to know when it is called. What an
agent can cause is no fault of ours: a person who finds the attestation made, or the run gone, has
lost a race, and that is witnessed and goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.bench.story.acts import Scene, perform
from harness.bench.story.calls import Eyes
from harness.bench.story.stage import Stage, Watched
from harness.bench.story.triggers import Met, Seen, needs_events, things_met
from harness.bench.story.work import Witness
from harness.core.waiting import Clock
from harness.errors import HarnessError, KubeError, UnreachableError
from harness.kube.refusals import who_refused
from harness.kube.resources import CAPABILITIES, LAB_EVENTS
from harness.model.story import Act, Part


@dataclass(slots=True, kw_only=True)
class _Turn:
    """How far one part has come.

    Attributes:
        met: Keys of the things that it has answered to.
    """

    part: Part
    met: set[str] = field(default_factory=set)

    @property
    def over(self) -> bool:
        return len(self.met) >= self.part.times


class Cast:
    """Everybody of one attempt beside the agent."""

    def __init__(
        self,
        parts: Sequence[Part],
        stage: Stage,
        *,
        truth: str | None,
        watched: Watched,
        clock: Clock,
    ) -> None:
        """Take their places; nothing is done yet.

        Args:
            parts: Who does what, and when.
            stage: Where.
            truth: Name of the truth of this attempt, for acts that hang on it.
            watched: What is known of the agent's requests.
            clock: What every wait sleeps on.
        """
        self._turns = [_Turn(part=part) for part in parts]
        self._stage, self._truth, self._watched = stage, truth, watched
        self._eyes = Eyes(stage, clock)
        self._at_work = False
        self.witnesses: list[Witness] = []

    @property
    def over(self) -> bool:
        """Whether there is nothing left to do for anybody."""
        return all(turn.over for turn in self._turns)

    def step(self) -> None:
        """Look at what the agent did, and do what is due. Idempotent; a call from within returns.

        Raises:
            HarnessError: Something that an agent cannot have caused.
        """
        if self._at_work or self.over:
            return
        self._at_work = True
        try:
            seen = self._see()
            for turn in self._turns:
                for met in things_met(turn.part.when, seen):
                    if met.key not in turn.met and not turn.over:
                        turn.met.add(met.key)
                        self._play(turn.part, met)
        finally:
            self._at_work = False

    def _see(self) -> Seen:
        waiting = [turn.part.when for turn in self._turns if not turn.over]
        events, observing = [], set()
        if any(needs_events(trigger) for trigger in waiting):
            events = self._eyes.all_of(LAB_EVENTS)
        if any(trigger.looked for trigger in waiting):
            listed = self._eyes.all_of(CAPABILITIES)
            observing = {one["spec"]["id"] for one in listed if not one["spec"]["acts"]}
        return Seen(
            agent_user=self._stage.agent_user,
            events=events,
            requests=self._watched.requests() or (),
            observing=observing,
        )

    def _play(self, part: Part, met: Met) -> None:
        for act in part.do:
            if act.only and self._truth not in act.only:
                continue
            witness = self._do(act, met)
            self.witnesses.append({"part": part.name, "trigger": met.what, **witness})

    def _do(self, act: Act, met: Met) -> Witness:
        at = self._eyes.clock.now().isoformat()
        try:
            return perform(act, Scene(eyes=self._eyes, run=met.run))
        except HarnessError as error:
            if isinstance(error, KubeError):
                if _ours_to_blame(act, error):
                    raise
            else:
                self._stage.instruments.idle()  # raises where the laboratory is broken
            refused: dict[str, Any] = {"refused": error.message}
            return {"act": act.verbs[0], "by": act.by, "at": at, **refused}


def _ours_to_blame(act: Act, error: KubeError) -> bool:
    """Tell whether a refusal shows a fault of the harness's or the task's, not a lost race. Pure.

    A new object that the schema refuses is the task's fault; a change that it refuses is one that
    came too late, since the rules of what may follow what stand in the schema too.
    """
    if isinstance(error, UnreachableError) or error.status >= 500:
        return True
    refuser = who_refused(error.status, error.message.partition(": ")[2])
    changes = act.resume is not None or act.cancel is not None
    return refuser == "rbac" or (refuser == "schema" and not changes)
