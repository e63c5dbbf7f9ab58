"""What an agent may use up, and what it did use up; never what it achieved."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.model.frozen import Frozen, PositiveFloat

#: Seconds an agent may act when its task says nothing: five times the 180 s that the slowest task
#: takes a person.
DEFAULT_ACT_SECONDS = 900.0


class AgentLimits(Frozen):
    """Bounds of one attempt.

    Attributes:
        act_seconds: Wall time.
        max_turns: Answers of a chat model.
        max_output_bytes: Bytes kept of each output stream.
    """

    act_seconds: PositiveFloat = DEFAULT_ACT_SECONDS
    max_turns: Annotated[int, Field(gt=0)] = 60
    max_output_bytes: Annotated[int, Field(gt=0)] = 4 * 1024 * 1024


class AgentDescription(Frozen):
    """Who acted, for the report.

    Attributes:
        isolation: What kept the agent apart from the harness, said honestly.
    """

    kind: Literal["command", "control", "openai", "person"]
    name: str
    model: str | None = None
    isolation: str
    settings: dict[str, str | int | float] = {}


class AgentOutcome(Frozen):
    """What an agent spent. Unknown is None, never 0.

    Attributes:
        error: Why it did not end by itself, or None.
        seconds: Wall time of the act.
        survivors: Processes that it left running; they were ended.
    """

    error: str | None = None
    seconds: float
    input_tokens: int | None = None
    output_tokens: int | None = None
    turns: int | None = None
    cost_usd: float | None = None
    survivors: int = 0
    exit_code: int | None = None
    timed_out: bool = False
