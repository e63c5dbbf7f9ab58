"""Agents that are refused before anything exists, and how an end is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.agents.command import CommandAgent, ControlAgent, read_end
from harness.agents.openai_chat import OpenAIAgent
from harness.agents.relay import endpoint
from harness.core.process import Finished
from harness.errors import ConfigError, PrerequisiteError


def _finished(returncode: int, *, timed_out: bool = False) -> Finished:
    return Finished(
        argv=("a",),
        returncode=returncode,
        stdout="",
        stderr="",
        duration_s=1.0,
        timed_out=timed_out,
        survivors=0,
    )


@pytest.mark.parametrize(
    ("finished", "said", "problem"),
    [
        (_finished(0), "fine", None),
        (_finished(3), "boom", "exited with code 3: boom"),
        (_finished(1), "", "exited with code 1 and said nothing"),
        (_finished(-9), "", "was ended by SIGKILL and said nothing"),
        (_finished(-35), "x", "was ended by signal 35: x"),
        (_finished(0, timed_out=True), "x", "did not finish within 2.5 s"),
    ],
)
def test_an_end_is_told_in_one_line(finished: Finished, said: str, problem: str | None) -> None:
    found = read_end(finished, act_seconds=2.5, said=said)

    assert found == problem


def test_a_program_that_is_not_there_is_refused_before_anything_exists() -> None:
    with pytest.raises(PrerequisiteError) as caught:
        CommandAgent("no-such-agent {prompt}", ambient={"PATH": "/bin"})

    assert str(caught.value) == "--agent-command: no executable 'no-such-agent'"


def test_a_control_that_is_no_executable_is_refused_before_anything_exists(tmp_path: Path) -> None:
    path = tmp_path / "idle.py"
    path.touch(mode=0o644)

    with pytest.raises(ConfigError) as caught:
        ControlAgent(path)

    assert str(caught.value) == f"control 'idle': {path} is no executable file"


def test_a_command_is_described_without_its_secrets() -> None:
    agent = CommandAgent("sh -c x --token s3cret", ambient={"PATH": "/bin"})

    assert agent.description.name == "sh"
    assert agent.description.isolation == "process"
    assert agent.description.settings == {"command": "sh -c x --token '***'"}


def test_a_chat_agent_without_a_key_is_refused() -> None:
    with pytest.raises(PrerequisiteError) as caught:
        OpenAIAgent(model="m", environment={})

    assert str(caught.value) == "OPENAI_API_KEY is not set"


@pytest.mark.parametrize(
    ("base_url", "problem"),
    [
        ("localhost:8000", "base URL has no host, expected http://HOST:PORT/v1 or https://HOST/v1"),
        ("http://x:port/v1", "base URL: port could not be cast to integer value as 'port'"),
    ],
)
def test_a_chat_agent_with_a_url_that_leads_nowhere_is_refused(base_url: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAIAgent(model="m", base_url=base_url, environment={"OPENAI_API_KEY": "k"})

    assert str(caught.value) == problem


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it() -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAIAgent(model="m", environment={"OPENAI_API_KEY": "sk-\u201cx\u201d"})

    assert str(caught.value) == "OPENAI_API_KEY holds characters that no HTTP header can carry"


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("https://127.0.0.1:6443", ("127.0.0.1", 6443)),
        ("https://[::1]:6443/", ("::1", 6443)),
        ("https://api.example", ("api.example", 443)),
    ],
)
def test_an_api_servers_url_gives_host_and_port(server: str, expected: tuple[str, int]) -> None:
    found = endpoint(server)

    assert found == expected


@pytest.mark.parametrize("server", ["127.0.0.1:6443", "unix:///x", "", "https://"])
def test_a_url_without_a_host_is_refused(server: str) -> None:
    with pytest.raises(ConfigError) as caught:
        endpoint(server)

    assert str(caught.value) == f"API server {server!r}: expected https://HOST:PORT"
