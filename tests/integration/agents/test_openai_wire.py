"""The chat agent over the wire: the real SDK against a scripted server on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.agents.agent import Agent, Assignment
from harness.agents.openai_chat import MAX_RETRIES, OpenAIAgent
from harness.agents.sandbox import Workspace
from harness.agents.usage import Prices
from harness.core.files import read_lines
from harness.errors import PrerequisiteError
from harness.model.agent import AgentLimits, AgentOutcome
from tests.integration.agents.chat_server import ChatServer, Step, serving_chat
from tests.integration.agents.conftest import TOKEN
from tests.unit.agents.fakes import wire_call, wire_reply

KEY = "sk-key-of-the-model"
USAGE = {"prompt_tokens": 100, "completion_tokens": 10}
FINISH = wire_reply(wire_call("finish", {"summary": "done"}, "end"), usage=USAGE)


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with serving_chat() as server:
        yield server


def act(
    chat: ChatServer,
    workspace: Workspace,
    agent_dir: Path,
    *script: Step,
    limits: AgentLimits | None = None,
    prices: Prices | None = None,
    request_timeout_s: float = 20.0,
) -> AgentOutcome:
    """Let the chat agent work against a script."""
    chat.script = list(script)
    agent: Agent = OpenAIAgent(
        model="scripted",
        base_url=chat.url,
        prices=prices,
        temperature=0.5,
        environment={"OPENAI_API_KEY": KEY},
        request_timeout_s=request_timeout_s,
    )
    return agent.act(
        Assignment(
            prompt="mix it",
            task_id="mix",
            variables={},
            workspace=workspace,
            agent_dir=agent_dir,
            limits=limits or AgentLimits(act_seconds=20),
        )
    )


def call(*args: str, call_id: str = "c1", **more: str) -> dict[str, Any]:
    """Return a call of kubectl."""
    return wire_call("kubectl", {"args": list(args), **more}, call_id)


def answers(chat: ChatServer) -> dict[str, str]:
    """Return what the model was last told of each call, by id."""
    return {
        message["tool_call_id"]: message["content"]
        for message in chat.requests[-1]["messages"]
        if message["role"] == "tool"
    }


def test_a_call_then_finish_is_carried_out_counted_and_kept(
    chat: ChatServer, workspace: Workspace, agent_dir: Path, kubectl_dir: Path
) -> None:
    outcome = act(
        chat,
        workspace,
        agent_dir,
        wire_reply(call("create", "-f", "-", stdin="kind: LabRun"), usage=USAGE),
        FINISH,
        prices=Prices(input_usd_per_million=1.0, output_usd_per_million=10.0),
    )

    assert outcome.model_copy(update={"seconds": 0.0}) == AgentOutcome(
        seconds=0.0, input_tokens=200, output_tokens=20, turns=2, cost_usd=0.0004
    )
    assert (kubectl_dir / "stdin").read_text() == "kind: LabRun"
    assert answers(chat) == {"c1": "exit code 0\ncreated"}
    assert chat.requests[0]["temperature"] == 0.5
    assert [tool["function"]["name"] for tool in chat.requests[0]["tools"]] == ["kubectl", "finish"]
    roles = [line["message"]["role"] for line in read_lines(agent_dir / "transcript.jsonl")]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]


def test_the_key_reaches_the_server_and_nothing_else(
    chat: ChatServer, workspace: Workspace, agent_dir: Path, kubectl_dir: Path
) -> None:
    leak = wire_reply(call("version"), text=f"my key is {KEY}, my token {TOKEN}")

    act(chat, workspace, agent_dir, leak, (401, {"error": {"message": f"wrong key {KEY}"}}))

    assert set(chat.keys) == {f"Bearer {KEY}"}
    environment = (kubectl_dir / "environment").read_text()
    assert KEY not in environment
    assert "AGENT_KEY" not in environment
    kept = b"".join(path.read_bytes() for path in agent_dir.iterdir())
    assert KEY.encode() not in kept
    assert TOKEN.encode() not in kept


def test_parallel_calls_are_carried_out_in_order(
    chat: ChatServer, workspace: Workspace, agent_dir: Path, kubectl_dir: Path
) -> None:
    calls = [call("get", "labruns", call_id="a"), call("delete", "labrun", "x", call_id="b")]

    outcome = act(chat, workspace, agent_dir, wire_reply(*calls, usage=USAGE), FINISH)

    assert outcome.error is None
    assert (kubectl_dir / "calls").read_text() == "get labruns\ndelete labrun x\n"
    assert answers(chat) == {"a": "exit code 0\nlisted", "b": "exit code 1\nError: forbidden"}


def test_unknown_tools_bad_json_and_forbidden_options_are_answered(
    chat: ChatServer, workspace: Workspace, agent_dir: Path, kubectl_dir: Path
) -> None:
    calls = [
        wire_call("bash", {"cmd": "ls"}, "a"),
        wire_call("kubectl", "{oops", "b"),
        wire_call("kubectl", {"args": "get pods"}, "c"),
        call("get", "pods", "--as=admin", call_id="d"),
    ]

    outcome = act(chat, workspace, agent_dir, wire_reply(*calls, usage=USAGE), FINISH)

    assert outcome.error is None
    assert not (kubectl_dir / "calls").exists()
    assert answers(chat) == {
        "a": "error: no tool 'bash', there are kubectl and finish",
        "b": "error: arguments of kubectl are not a JSON object",
        "c": 'error: args must be a list of strings, for example ["get", "labruns"]',
        "d": "error: --as is not allowed: identity, server and client settings are fixed",
    }


def test_a_rate_limit_is_waited_out(
    chat: ChatServer, workspace: Workspace, agent_dir: Path
) -> None:
    outcome = act(chat, workspace, agent_dir, (429, {"error": {"message": "slow down"}}), FINISH)

    assert (outcome.error, outcome.turns, len(chat.requests)) == (None, 1, 2)


def test_a_server_that_fails_for_ever_is_given_up_and_named(
    chat: ChatServer, workspace: Workspace, agent_dir: Path
) -> None:
    outcome = act(chat, workspace, agent_dir, (500, "boom \x1b[31m"))

    assert outcome.error == "the API answered 500: boom \\x1b[31m"
    assert (outcome.turns, outcome.input_tokens) == (0, None)
    assert len(chat.requests) == 1 + MAX_RETRIES


def test_a_context_that_overflows_is_an_error_and_what_was_spent_is_kept(
    chat: ChatServer, workspace: Workspace, agent_dir: Path
) -> None:
    overflow = (400, {"error": {"message": "too long", "code": "context_length_exceeded"}})

    outcome = act(chat, workspace, agent_dir, wire_reply(call("get"), usage=USAGE), overflow)

    assert outcome.error == (
        'the API answered 400: {"error": {"message": "too long", '
        '"code": "context_length_exceeded"}}'
    )
    assert (outcome.turns, outcome.input_tokens) == (1, 100)


def test_an_answer_that_is_no_json_is_an_error(
    chat: ChatServer, workspace: Workspace, agent_dir: Path
) -> None:
    outcome = act(chat, workspace, agent_dir, (200, "<html>"))

    assert outcome.error == "the API answered no JSON: <html>"


def test_a_server_that_is_not_there_is_an_error(
    chat: ChatServer, workspace: Workspace, agent_dir: Path
) -> None:
    chat.url = "http://127.0.0.1:1/v1"

    outcome = act(chat, workspace, agent_dir, FINISH, limits=AgentLimits(act_seconds=30))

    assert outcome.error is not None
    assert outcome.error.startswith("the API could not be reached: ")


def test_the_turn_limit_ends_it(chat: ChatServer, workspace: Workspace, agent_dir: Path) -> None:
    limits = AgentLimits(act_seconds=20, max_turns=3)

    outcome = act(chat, workspace, agent_dir, wire_reply(call("get")), limits=limits)

    assert (outcome.error, outcome.turns) == ("did not finish within 3 turns", 3)


def test_a_model_that_never_answers_is_ended_by_the_time_limit_and_not_by_retries(
    chat: ChatServer, workspace: Workspace, agent_dir: Path
) -> None:
    limits = AgentLimits(act_seconds=1.0)

    outcome = act(chat, workspace, agent_dir, None, limits=limits, request_timeout_s=0.4)

    assert (outcome.error, outcome.timed_out) == ("did not finish within 1 s", True)
    assert outcome.seconds < 5


def test_a_kubectl_that_waits_is_ended_by_the_time_limit(
    chat: ChatServer, workspace: Workspace, agent_dir: Path
) -> None:
    limits = AgentLimits(act_seconds=1.0)

    outcome = act(chat, workspace, agent_dir, wire_reply(call("wait", "x")), limits=limits)

    assert (outcome.error, outcome.timed_out) == ("did not finish within 1 s", True)
    assert outcome.seconds < 8


def test_usage_that_is_not_reported_is_unknown_and_so_is_the_cost(
    chat: ChatServer, workspace: Workspace, agent_dir: Path
) -> None:
    prices = Prices(input_usd_per_million=1.0, output_usd_per_million=1.0)
    silent = wire_reply(wire_call("finish", {"summary": "x"}))

    outcome = act(chat, workspace, agent_dir, silent, prices=prices)

    assert outcome.error is None
    assert (outcome.input_tokens, outcome.output_tokens, outcome.cost_usd) == (None, None, None)


def test_a_refusal_is_an_error(chat: ChatServer, workspace: Workspace, agent_dir: Path) -> None:
    outcome = act(chat, workspace, agent_dir, wire_reply(refusal="no", usage=USAGE))

    assert outcome.error == "the model refused: no"


def test_huge_output_of_kubectl_is_truncated_with_a_mark(
    chat: ChatServer, workspace: Workspace, agent_dir: Path
) -> None:
    act(chat, workspace, agent_dir, wire_reply(call("explain", "x")), FINISH)

    told = answers(chat)["c1"]
    assert len(told) < 17_000
    assert "\n[183616 of 200000 bytes left out]\n" in told


def test_a_kubectl_that_cannot_be_executed_is_not_told_to_the_model(
    chat: ChatServer, workspace: Workspace, agent_dir: Path, kubectl_dir: Path
) -> None:
    (kubectl_dir / "kubectl").unlink()

    with pytest.raises(PrerequisiteError) as caught:
        act(chat, workspace, agent_dir, wire_reply(call("get")))

    assert str(caught.value) == f"cannot run {str(workspace.kubectl)!r}: No such file or directory"


def test_a_try_that_takes_too_long_for_ever_is_given_up_and_named(
    chat: ChatServer, workspace: Workspace, agent_dir: Path
) -> None:
    outcome = act(
        chat,
        workspace,
        agent_dir,
        None,
        limits=AgentLimits(act_seconds=60),
        request_timeout_s=0.05,
    )

    assert outcome.error == "the API did not answer within 0.05 s"
    assert not outcome.timed_out
    assert len(chat.requests) == 1 + MAX_RETRIES


def test_a_chat_agent_is_described_without_its_key(chat: ChatServer) -> None:
    url = chat.url.replace("//", "//user:password@")
    agent = OpenAIAgent(model="m", base_url=url, environment={"OPENAI_API_KEY": KEY})

    described = agent.description.model_dump()

    assert described == {
        "kind": "openai",
        "name": "openai",
        "model": "m",
        "isolation": "process",
        "settings": {"base_url": chat.url},
    }
