"""What is read from a provider's answer, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.agents.chat_reply import parse_reply
from harness.agents.usage import Usage
from harness.errors import AgentError
from tests.unit.agents.fakes import reply, wire_call, wire_reply


def test_a_reply_gives_words_calls_and_usage() -> None:
    found = reply(
        wire_call("kubectl", {"args": ["get"]}),
        text="hm",
        usage={"prompt_tokens": 7, "completion_tokens": 2},
    )

    assert found.text == "hm"
    assert [(call.call_id, call.name, call.arguments) for call in found.calls] == [
        ("c1", "kubectl", {"args": ["get"]})
    ]
    assert found.usage == Usage(input_tokens=7, output_tokens=2)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": -1, "completion_tokens": "3"}, [1], "x"]
)
def test_usage_that_is_missing_or_wrong_is_unknown(usage: Any) -> None:
    found = reply(text="x", usage=usage)

    assert found.usage == Usage()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("{", None),
        ("[1]", None),
        ('"{}"', None),
        ("[" * 100_000, None),
        ('{"a": ' + "9" * 5000 + "}", None),
    ],
    ids=lambda value: str(value)[:12],
)
def test_arguments_are_an_object_or_nothing(
    arguments: str, expected: dict[str, Any] | None
) -> None:
    found = reply(wire_call("kubectl", arguments))

    assert found.calls[0].arguments == expected


def test_arguments_that_are_no_json_are_sent_back_as_an_empty_object() -> None:
    found = reply(wire_call("kubectl", "{oops"))

    assert found.to_message()["tool_calls"][0]["function"]["arguments"] == "{}"


def test_what_is_sent_back_has_a_text_where_there_is_no_call() -> None:
    said, silent, called = reply(text="hm"), reply(), reply(wire_call("kubectl", {}))

    assert said.to_message() == {"role": "assistant", "content": "hm"}
    assert silent.to_message() == {"role": "assistant", "content": ""}
    assert called.to_message()["content"] is None


def test_a_providers_own_fields_of_a_call_are_sent_back() -> None:
    call = {**wire_call("kubectl", {}), "extra_content": {"signature": "s"}}

    found = reply(call)

    assert found.to_message()["tool_calls"][0]["extra_content"] == {"signature": "s"}


def test_a_lone_surrogate_becomes_text_that_can_be_sent() -> None:
    body = json.dumps(wire_reply(wire_call("\ud800", '{"a": "\ud800"}'), text="x\ud800"))

    message = parse_reply(body).to_message()

    assert message["content"] == "x?"
    assert json.dumps(message, ensure_ascii=False).encode()


@pytest.mark.parametrize("calls", [["x"], [{}], [None], [{"function": None}], [{"function": []}]])
def test_a_call_of_no_shape_is_a_call_without_a_name(calls: list[Any]) -> None:
    found = reply(*calls)

    assert [(call.name, call.arguments) for call in found.calls] == [("", None)]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("", "the API answered no JSON: nothing"),
        ("<html>\x1b", "the API answered no JSON: <html>\\x1b"),
        ("[1]", "the API answered without a message: [1]"),
        ('{"choices": []}', 'the API answered without a message: {"choices": []}'),
        ('{"choices": [null]}', 'the API answered without a message: {"choices": [null]}'),
        (
            '{"error": {"message": "no credit"}}',
            'the API answered with an error: {"message": "no credit"}',
        ),
    ],
)
def test_a_body_without_a_reply_says_what_was_found(body: str, problem: str) -> None:
    with pytest.raises(AgentError) as caught:
        parse_reply(body)

    assert str(caught.value) == problem


def test_parts_of_text_are_put_together() -> None:
    body = wire_reply()
    body["choices"][0]["message"]["content"] = [{"type": "text", "text": "a"}, {"text": "b"}, 3]

    found = parse_reply(json.dumps(body))

    assert found.text == "ab"
