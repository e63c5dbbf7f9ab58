"""The shape of a kubectl call, and its environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.agents.sandbox import Workspace
from harness.agents.tools import KubectlCall, kubectl_environment, parse_kubectl_call
from harness.errors import AgentError


def test_a_call_of_the_right_shape_is_read() -> None:
    call = parse_kubectl_call({"args": ["create", "-f", "-"], "stdin": "kind: LabRun"})

    assert call == KubectlCall(args=("create", "-f", "-"), stdin="kind: LabRun")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, 'args must be a list of strings, for example ["get", "labruns"]'),
        ({"args": "get pods"}, 'args must be a list of strings, for example ["get", "labruns"]'),
        ({"args": ["get", 1]}, 'args must be a list of strings, for example ["get", "labruns"]'),
        ({"args": ["get"], "stdin": {}}, "stdin must be a string"),
        ({"args": ["get"], "shell": "sh"}, "kubectl takes args and stdin, found shell"),
        ({"args": ["get\0"]}, "args must not hold NUL characters"),
        ({"args": ["\ud800"]}, "args and stdin must be Unicode text, found a lone surrogate"),
        (
            {"args": ["x" * 200_000]},
            "args of 200001 and stdin of 0 bytes, at most 100000 and 1048576 allowed",
        ),
    ],
)
def test_a_call_of_another_shape_is_refused(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(AgentError) as caught:
        parse_kubectl_call(arguments)

    assert str(caught.value) == problem


def test_what_the_user_hands_to_the_agent_does_not_reach_kubectl() -> None:
    given = {"PATH": "/bin", "HOME": "/h", "KUBECONFIG": "/h/k", "TZ": "UTC", "OPENAI_API_KEY": "k"}
    workspace = Workspace(
        home=Path("/h"),
        kubeconfig=Path("/h/k"),
        kubectl=Path("/b/kubectl"),
        namespace="lab",
        environment=given,
    )

    environment = kubectl_environment(workspace)

    assert environment == {"PATH": "/bin", "HOME": "/h", "KUBECONFIG": "/h/k", "TZ": "UTC"}
