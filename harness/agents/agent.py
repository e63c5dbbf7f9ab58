"""What every kind of agent looks like to the bench: a description, and one act inside limits.

It owns the protocol and the files that each kind leaves in the attempt's `agent/` folder; it
refuses to know how a kind acts. `bench` holds an `Agent`; the sibling modules implement it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.agents.sandbox import Workspace
from harness.core.files import write_atomic, write_json
from harness.model.agent import AgentDescription, AgentLimits, AgentOutcome
from harness.model.frozen import Json

PROMPT_FILE = "prompt.md"
STDOUT_FILE = "stdout"
STDERR_FILE = "stderr"
TRANSCRIPT_FILE = "transcript.jsonl"
USAGE_FILE = "usage.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One task for one agent.

    Attributes:
        prompt: What it is told, the same for every agent.
        task_id: Id of the task; only controls are told.
        variables: Variable name to value, those named in the prompt; only controls are told.
        workspace: Its identity, its home and its environment.
        agent_dir: Folder for prompt, output, transcript and usage; the agent is never told it.
        limits: What it may use up.
    """

    prompt: str
    task_id: str
    variables: Mapping[str, Json]
    workspace: Workspace
    agent_dir: Path
    limits: AgentLimits


class Agent(Protocol):
    """Anything that acts."""

    @property
    def description(self) -> AgentDescription:
        """Who it is, for the report."""
        ...

    def act(self, assignment: Assignment) -> AgentOutcome:
        """Work on one task until done, or until a limit ends it.

        Returns:
            What it spent. Whatever an agent can cause is an `error` in here, not an exception.
        """
        ...


def save_prompt(agent_dir: Path, prompt: str) -> None:
    """Keep what the agent was told, exactly. Idempotent."""
    write_atomic(agent_dir / PROMPT_FILE, prompt.encode("utf-8", "surrogatepass"))


def save_usage(agent_dir: Path, outcome: AgentOutcome) -> AgentOutcome:
    """Keep what the agent spent, and return it. Idempotent."""
    write_json(agent_dir / USAGE_FILE, outcome.model_dump(mode="json"))
    return outcome
