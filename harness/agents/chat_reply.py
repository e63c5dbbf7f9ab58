"""One reply of a chat completions API, read from the wire with suspicion.

It owns the shape of a reply and everything that providers get wrong in it; it refuses to know the
SDK, and what a call will do. Pure. The door parses, the conversation reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.agents.foreign_text import excerpt
from harness.agents.usage import Usage, parse_count
from harness.errors import AgentError

#: Calls of one reply that are carried out; the rest is answered with an error. No honest model is
#: known to make more than 16 at once.
CALLS_LIMIT = 32

#: Calls of one reply that are read at all: each needs an answer in the next request.
_CALLS_READ = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the model calls.

    Attributes:
        call_id: The model's own id, which its answer must carry.
        name: The tool; empty when it is no function.
        arguments: What was given, or None when it is no JSON object.
        wire: The call as it came, to be sent back.
    """

    call_id: str
    name: str
    arguments: dict[str, Any] | None
    wire: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model said, and what it cost.

    Attributes:
        text: Its words, perhaps none.
        refusal: Why it will not, or None.
        calls: Tools in the order given.
        finish_reason: The provider's word, for example `length`.
        usage: Tokens of this reply.
    """

    text: str
    refusal: str | None
    calls: tuple[ToolCall, ...]
    finish_reason: str
    usage: Usage

    def to_message(self) -> dict[str, Any]:
        """Return the assistant message that the next request repeats. Pure."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.calls:
            message["tool_calls"] = [call.wire for call in self.calls]
        elif not self.text:
            message["content"] = ""  # null without a call is refused by several providers
        return message


def parse_reply(body: str) -> Reply:
    """Return the reply in the body of an answer. Pure.

    Raises:
        AgentError: It holds none; the message says what was found.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        msg = f"the API answered no JSON: {excerpt(body[:200]) or 'nothing'}"
        raise AgentError(msg) from error
    answer = _mapping(found)
    if answer.get("error"):  # some gateways send an error with status 200
        msg = f"the API answered with an error: {excerpt(json.dumps(answer['error']))}"
        raise AgentError(msg)
    choices = answer.get("choices")
    choice = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
    message = _mapping(choice.get("message"))
    if not message:
        msg = f"the API answered without a message: {excerpt(body[:200])}"
        raise AgentError(msg)
    calls = message.get("tool_calls")
    usage = _mapping(answer.get("usage"))
    refusal = message.get("refusal")
    return Reply(
        text=_text(message.get("content")),
        refusal=_clean(refusal) if isinstance(refusal, str) and refusal else None,
        calls=tuple(_call(call) for call in calls[:_CALLS_READ]) if isinstance(calls, list) else (),
        finish_reason=_clean(choice.get("finish_reason")),
        usage=Usage(
            input_tokens=parse_count(usage.get("prompt_tokens")),
            output_tokens=parse_count(usage.get("completion_tokens")),
        ),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _clean(value: Any) -> str:
    """Return text that can be sent on: a lone surrogate has no UTF-8."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _text(content: Any) -> str:
    if isinstance(content, list):  # parts, as some providers answer
        return "".join(_clean(_mapping(part).get("text")) for part in content)
    return _clean(content)


def _call(value: Any) -> ToolCall:
    call = _mapping(value)
    function = _mapping(call.get("function"))
    call_id, name, given = _clean(call.get("id")), _clean(function.get("name")), function
    arguments = given.get("arguments")
    # What is sent back keeps a provider's own fields (a signature of its thoughts, for one).
    wire = {**call, "id": call_id, "type": "function"}
    wire["function"] = {"name": name, "arguments": _arguments_text(arguments)}
    return ToolCall(
        call_id=call_id,
        name=name,
        arguments=_arguments(arguments),
        wire=_cleaned(wire),
    )


def _arguments_text(value: Any) -> str:
    """Return the arguments as the string of JSON that every provider takes back."""
    if isinstance(value, str):
        return _clean(value) if _arguments(value) is not None else "{}"
    return json.dumps(value) if isinstance(value, dict) else "{}"


def _arguments(value: Any) -> dict[str, Any] | None:
    """Return the arguments; a string of JSON is the rule, an object is met in practice."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, dict):
        return {_clean(key): _cleaned(item) for key, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value
