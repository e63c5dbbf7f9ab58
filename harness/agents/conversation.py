"""The loop of a chat agent: ask, carry out the calls, answer them, until done or at a limit.

It owns the order of things, the limits and the transcript; it refuses to know the SDK and kubectl,
which are passed in. `openai_chat` calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.agents.chat_reply import CALLS_LIMIT, Reply, ToolCall
from harness.agents.foreign_text import excerpt
from harness.agents.tools import ToolResult
from harness.agents.usage import Usage
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import AgentError
from harness.model.agent import AgentLimits

#: What every model is told before its task: the same for all, and nothing about what is graded.
SYSTEM_PROMPT = (
    "You operate a laboratory through the Kubernetes API. Act with the tool kubectl. "
    "When you are done, or can do no more, call the tool finish. Nobody answers questions."
)

#: Answer to a reply without a call.
NUDGE = "Nobody reads this. Call kubectl to act, or finish when you are done."

#: Replies in a row without a call after which the model is taken to be done: it was told twice.
_SILENT_LIMIT = 3


class Ask(Protocol):
    """One request to a model."""

    def __call__(self, messages: Sequence[Mapping[str, Any]], *, timeout_s: float) -> Reply:
        """Return its reply.

        Raises:
            AgentError: The API gave none; the message says why.
            TimeoutError: None came within `timeout_s` seconds.
        """
        ...


class Kubectl(Protocol):
    """One call of kubectl."""

    def __call__(self, arguments: Mapping[str, Any], *, timeout_s: float) -> ToolResult:
        """Carry it out, or say why not."""
        ...


@dataclass(slots=True, kw_only=True)
class Conversation:
    """One model at work on one task; use it once.

    Attributes:
        ask: Asks the model.
        kubectl: Carries out its calls.
        record: Called with each message as it comes, for the transcript.
        limits: Seconds and turns.
        clock: Source of time.
        turns: Replies so far.
        usages: Tokens of each reply.
        survivors: Processes that kubectl left running.
        timed_out: Whether time ran out.
    """

    ask: Ask
    kubectl: Kubectl
    record: Callable[[Mapping[str, Any]], None]
    limits: AgentLimits
    clock: Clock = SYSTEM_CLOCK
    turns: int = 0
    usages: list[Usage] = field(default_factory=list)
    survivors: int = 0
    timed_out: bool = False
    _messages: list[dict[str, Any]] = field(default_factory=list)
    _deadline_s: float = 0.0
    _silent: int = 0

    def run(self, prompt: str) -> str | None:
        """Talk until the model is done; return why it did not get there, or None.

        Raises:
            PrerequisiteError: kubectl cannot be executed.
        """
        self._deadline_s = self.clock.monotonic_s() + self.limits.act_seconds
        self._say({"role": "system", "content": SYSTEM_PROMPT})
        self._say({"role": "user", "content": prompt})
        try:
            while self.turns < self.limits.max_turns:
                if self._turn():
                    return None
        except TimeoutError:
            self.timed_out = True
            return f"did not finish within {self.limits.act_seconds:g} s"
        except AgentError as error:
            return error.message
        return f"did not finish within {self.limits.max_turns} turns"

    def _remaining_s(self) -> float:
        remaining_s = self._deadline_s - self.clock.monotonic_s()
        if remaining_s <= 0:
            raise TimeoutError
        return remaining_s

    def _say(self, message: dict[str, Any]) -> None:
        self._messages.append(message)
        self.record(message)

    def _turn(self) -> bool:
        """Ask once and carry out what comes; tell whether the model is done."""
        reply = self.ask(self._messages, timeout_s=self._remaining_s())
        self.turns += 1
        self.usages.append(reply.usage)
        self._say(reply.to_message())
        if problem := stopped(reply):
            raise AgentError(problem)
        if reply.calls:
            self._silent = 0
            return self._carry_out(reply.calls)
        self._silent += 1
        if self._silent >= _SILENT_LIMIT:
            return True
        self._say({"role": "user", "content": NUDGE})
        return False

    def _carry_out(self, calls: Sequence[ToolCall]) -> bool:
        done = False
        for number, call in enumerate(calls, start=1):
            if done:
                text = "error: not carried out, finish was called before"
            elif number > CALLS_LIMIT:
                text = f"error: not carried out, at most {CALLS_LIMIT} calls at once"
            elif problem := malformed(call):
                text = f"error: {problem}"
            elif call.name == "finish":
                done, text = True, "done"
            else:
                result = self.kubectl(call.arguments or {}, timeout_s=self._remaining_s())
                self.survivors += result.survivors
                text = result.text
            self._say({"role": "tool", "tool_call_id": call.call_id, "content": text})
        return done


def malformed(call: ToolCall) -> str | None:
    """Say what is wrong with a call whatever it asks for, or return None. Pure."""
    if call.name not in {"kubectl", "finish"}:
        return f"no tool {excerpt(call.name, limit_chars=60)!r}, there are kubectl and finish"
    if call.arguments is None:
        return f"arguments of {call.name} are not a JSON object"
    if call.name == "finish" and not isinstance(call.arguments.get("summary"), str):
        return "finish takes summary, a string"
    return None


def stopped(reply: Reply) -> str | None:
    """Say why a reply ends the conversation without being done, or return None. Pure."""
    if reply.refusal is not None:
        return f"the model refused: {excerpt(reply.refusal)}"
    if reply.finish_reason == "content_filter":
        return "the reply was stopped by the provider's content filter"
    return None
