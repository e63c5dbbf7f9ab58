"""Strict stand-ins for a model and for kubectl."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.agents.chat_reply import Reply, parse_reply
from harness.agents.tools import ToolResult
from tests.unit.core.fakes import FakeClock


class FakeModel:
    """Gives the scripted replies in order; one request too many fails the test."""

    def __init__(self, *script: Reply | Exception, clock: FakeClock, seconds: float = 1.0) -> None:
        self._script = list(script)
        self._clock, self._seconds = clock, seconds
        self.asked: list[list[dict[str, Any]]] = []
        self.timeouts_s: list[float] = []

    def __call__(self, messages: Sequence[Mapping[str, Any]], *, timeout_s: float) -> Reply:
        """Give the next reply."""
        self.asked.append([dict(message) for message in messages])
        self.timeouts_s.append(timeout_s)
        assert self._script, "one request more than was scripted"
        self._clock.sleep(self._seconds)
        found = self._script.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


class FakeKubectl:
    """Notes each call, takes the given time and says `pong`."""

    def __init__(self, *, clock: FakeClock, seconds: float = 0.0) -> None:
        self._clock, self._seconds = clock, seconds
        self.calls: list[dict[str, Any]] = []

    def __call__(self, arguments: Mapping[str, Any], *, timeout_s: float) -> ToolResult:
        """Note the call."""
        assert timeout_s > 0
        self.calls.append(dict(arguments))
        self._clock.sleep(self._seconds)
        return ToolResult(text="exit code 0\npong", survivors=1)


def wire_call(name: str, arguments: Any, call_id: str = "c1") -> dict[str, Any]:
    """Return one entry of `tool_calls` as providers write it."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def wire_reply(
    *calls: dict[str, Any],
    text: str | None = None,
    usage: Any = None,
    refusal: str | None = None,
    finish_reason: str = "stop",
) -> dict[str, Any]:
    """Return a chat completion as providers write it."""
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": refusal}
    if calls:
        message["tool_calls"] = list(calls)
    answer: dict[str, Any] = {
        "id": "r1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
    }
    if usage is not None:
        answer["usage"] = usage
    return answer


def reply(*calls: dict[str, Any], **fields: Any) -> Reply:
    """Return a parsed reply."""
    return parse_reply(json.dumps(wire_reply(*calls, **fields)))
