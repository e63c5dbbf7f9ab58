"""A person at a terminal: told the prompt and the kubeconfig, waited for, graded like any agent.

It owns the wait alone; how a line is shown and heard is passed in by the command line.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.agents.agent import Assignment, save_prompt, save_usage
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.model.agent import AgentDescription, AgentOutcome


class PersonAgent:
    """Somebody who works in a shell of their own until they say that they are done."""

    def __init__(
        self,
        *,
        tell: Callable[[str], None],
        done: Callable[[float], bool],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """Remember how to speak.

        Args:
            tell: Shows a text.
            done: Waits at most so many seconds; tells whether they said that they are done.
            clock: Source of time.
        """
        self._tell, self._done, self._clock = tell, done, clock

    @property
    def description(self) -> AgentDescription:
        """Who it is, for the report."""
        return AgentDescription(
            kind="person", name="person", isolation="none: the person's own shell"
        )

    def act(self, assignment: Assignment) -> AgentOutcome:
        """Wait until they are done; see `Agent.act`."""
        limit_s = assignment.limits.act_seconds
        save_prompt(assignment.agent_dir, assignment.prompt)
        started_s = self._clock.monotonic_s()
        self._tell(
            f"\n{assignment.prompt}\n\nIn another shell:\n\n"
            f"  export KUBECONFIG={assignment.workspace.kubeconfig}\n"
        )
        self._tell(f"Press Enter here when you are done, within {limit_s:g} s.")
        in_time = self._done(limit_s)
        outcome = AgentOutcome(
            error=None if in_time else f"did not finish within {limit_s:g} s",
            seconds=round(self._clock.monotonic_s() - started_s, 3),
            timed_out=not in_time,
        )
        return save_usage(assignment.agent_dir, outcome)
