"""The loop of a chat agent, with a scripted model and no real time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.agents.chat_reply import CALLS_LIMIT, Reply
from harness.agents.conversation import NUDGE, SYSTEM_PROMPT, Conversation
from harness.errors import AgentError
from harness.model.agent import AgentLimits
from tests.unit.agents.fakes import FakeKubectl, FakeModel, reply, wire_call
from tests.unit.core.fakes import FakeClock

FINISH = wire_call("finish", {"summary": "done"}, "end")


class Scene:
    """A conversation with everything round it."""

    def __init__(
        self,
        *script: Reply | Exception,
        limits: AgentLimits | None = None,
        model_seconds: float = 1.0,
        kubectl_seconds: float = 0.0,
    ) -> None:
        clock = FakeClock()
        self.model = FakeModel(*script, clock=clock, seconds=model_seconds)
        self.kubectl = FakeKubectl(clock=clock, seconds=kubectl_seconds)
        self.transcript: list[Mapping[str, Any]] = []
        self.talk = Conversation(
            ask=self.model,
            kubectl=self.kubectl,
            record=self.transcript.append,
            limits=limits or AgentLimits(),
            clock=clock,
        )

    def answers(self) -> list[tuple[str, str]]:
        """Return what each tool call was answered, by id."""
        return [
            (message["tool_call_id"], message["content"])
            for message in self.transcript
            if message["role"] == "tool"
        ]


def test_a_call_is_carried_out_and_finish_ends_the_talk() -> None:
    scene = Scene(reply(wire_call("kubectl", {"args": ["get"]})), reply(FINISH))

    error = scene.talk.run("mix it")

    assert error is None
    assert scene.kubectl.calls == [{"args": ["get"]}]
    assert scene.model.asked[0] == [
        {"role": "system", "content": SYSTEM_PROMPT},
        {"role": "user", "content": "mix it"},
    ]
    assert [message["role"] for message in scene.transcript] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    assert (scene.talk.turns, scene.talk.survivors) == (2, 1)


def test_parallel_calls_are_answered_in_order_and_none_is_carried_out_after_finish() -> None:
    calls = [
        wire_call("kubectl", {"args": ["get"]}, "a"),
        wire_call("kubectl", {"args": ["version"]}, "b"),
        FINISH,
        wire_call("kubectl", {"args": ["delete"]}, "d"),
    ]
    scene = Scene(reply(*calls))

    error = scene.talk.run("go")

    assert error is None
    assert scene.kubectl.calls == [{"args": ["get"]}, {"args": ["version"]}]
    assert scene.answers() == [
        ("a", "exit code 0\npong"),
        ("b", "exit code 0\npong"),
        ("end", "done"),
        ("d", "error: not carried out, finish was called before"),
    ]


def test_a_flood_of_calls_is_answered_and_only_the_first_are_carried_out() -> None:
    calls = [wire_call("kubectl", {"args": ["get"]}, str(number)) for number in range(40)]
    scene = Scene(reply(*calls), reply(FINISH))

    scene.talk.run("go")

    assert len(scene.kubectl.calls) == CALLS_LIMIT
    assert scene.answers()[CALLS_LIMIT] == (
        "32",
        "error: not carried out, at most 32 calls at once",
    )


def test_a_call_that_is_wrong_is_answered_with_what_is_wrong() -> None:
    calls = [
        wire_call("shell", {"cmd": "ls"}, "a"),
        wire_call("kubectl", "{oops", "b"),
        wire_call("finish", {}, "c"),
    ]
    scene = Scene(reply(*calls), reply(FINISH))

    error = scene.talk.run("go")

    assert error is None
    assert scene.kubectl.calls == []
    assert scene.answers()[:3] == [
        ("a", "error: no tool 'shell', there are kubectl and finish"),
        ("b", "error: arguments of kubectl are not a JSON object"),
        ("c", "error: finish takes summary, a string"),
    ]


def test_a_model_that_only_talks_is_nudged_twice_and_then_taken_to_be_done() -> None:
    scene = Scene(reply(text="hello"), reply(text="hm"), reply(text="all done"))

    error = scene.talk.run("go")

    assert error is None
    assert [m["content"] for m in scene.transcript if m["role"] == "user"] == ["go", NUDGE, NUDGE]


def test_the_turn_limit_ends_the_talk() -> None:
    call = wire_call("kubectl", {"args": ["get"]})
    scene = Scene(reply(call), reply(call), limits=AgentLimits(max_turns=2))

    error = scene.talk.run("go")

    assert error == "did not finish within 2 turns"
    assert not scene.talk.timed_out


def test_the_time_limit_ends_the_talk_between_two_calls() -> None:
    calls = [wire_call("kubectl", {"args": ["get"]}, number) for number in "ab"]
    scene = Scene(reply(*calls), limits=AgentLimits(act_seconds=20), kubectl_seconds=30)

    error = scene.talk.run("go")

    assert error == "did not finish within 20 s"
    assert scene.talk.timed_out
    assert len(scene.kubectl.calls) == 1


def test_each_request_gets_the_time_that_is_left() -> None:
    scene = Scene(
        reply(wire_call("kubectl", {"args": ["get"]})),
        reply(FINISH),
        limits=AgentLimits(act_seconds=20),
        kubectl_seconds=4,
    )

    scene.talk.run("go")

    assert scene.model.timeouts_s == [20, 15]


def test_a_request_that_outlasts_the_limit_is_a_time_out() -> None:
    scene = Scene(TimeoutError(), limits=AgentLimits(act_seconds=20))

    error = scene.talk.run("go")

    assert (error, scene.talk.timed_out) == ("did not finish within 20 s", True)


def test_an_api_error_ends_the_talk_and_is_told() -> None:
    scene = Scene(AgentError("the API answered 500: boom"))

    error = scene.talk.run("go")

    assert (error, scene.talk.timed_out) == ("the API answered 500: boom", False)


def test_a_refusal_ends_the_talk_and_is_told() -> None:
    scene = Scene(reply(refusal="I will not"))

    error = scene.talk.run("go")

    assert error == "the model refused: I will not"


def test_a_reply_stopped_by_a_content_filter_ends_the_talk() -> None:
    scene = Scene(reply(text="x", finish_reason="content_filter"))

    error = scene.talk.run("go")

    assert error == "the reply was stopped by the provider's content filter"
