"""The tools of a chat agent: kubectl as the agent, and `finish`.

It owns what the model is told about them, the reading of what it asks for, and the run of kubectl;
it refuses to know which model asks. The conversation calls it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.agents.foreign_text import masked, truncated
from harness.agents.kubectl_rules import refuse
from harness.agents.sandbox import PASSED_NAMES, Workspace
from harness.core.process import run
from harness.errors import AgentError

#: Seconds for one call. `kubectl wait` waits 30 s unless told otherwise.
KUBECTL_TIMEOUT_S = 60.0

#: Bytes of one call's output that the model gets: about 5,000 tokens. 100,000 lines would fill any
#: context window.
OUTPUT_LIMIT_BYTES = 16 * 1024

#: Bytes read of kubectl before the rest is dropped.
_READ_LIMIT_BYTES = 1024 * 1024

#: Bytes of all arguments, and of standard input. Linux takes 128 kB an argument, etcd objects of up
#: to 1.5 MiB.
_ARGS_LIMIT_BYTES = 100_000
_STDIN_LIMIT_BYTES = 1024 * 1024

#: Seconds between the interrupt of a call that takes too long and its end.
_GRACE_S = 1.0


def _tool(
    name: str, description: str, properties: dict[str, Any], required: list[str]
) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


#: Chat completions `tools`.
TOOLS: tuple[dict[str, Any], ...] = (
    _tool(
        "kubectl",
        "Run kubectl with your own identity and get its output. Manifests go to stdin with '-f -'. "
        "There is no shell: no pipes, no files.",
        {
            "args": {
                "type": "array",
                "items": {"type": "string"},
                "description": "arguments after the word kubectl, the sub-command first",
            },
            "stdin": {"type": "string", "description": "standard input, for '-f -'"},
        },
        ["args"],
    ),
    _tool(
        "finish",
        "Say that you are done. Nothing can be done afterwards.",
        {"summary": {"type": "string", "description": "what was done, and what was not"}},
        ["summary"],
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KubectlCall:
    """What a model asks of kubectl, of the right shape, not yet allowed."""

    args: tuple[str, ...]
    stdin: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call gave: text for the model, and processes that kubectl left running."""

    text: str
    survivors: int = 0


def parse_kubectl_call(arguments: Mapping[str, Any]) -> KubectlCall:
    """Return the call that a model asks for. Pure.

    Raises:
        AgentError: The arguments are not of the tool's shape.
    """
    if unknown := sorted(arguments.keys() - {"args", "stdin"}):
        msg = f"kubectl takes args and stdin, found {', '.join(unknown)}"
        raise AgentError(msg)
    args, stdin = arguments.get("args"), arguments.get("stdin")
    if not isinstance(args, list) or not all(isinstance(arg, str) for arg in args):
        msg = 'args must be a list of strings, for example ["get", "labruns"]'
        raise AgentError(msg)
    if stdin is not None and not isinstance(stdin, str):
        msg = "stdin must be a string"
        raise AgentError(msg)
    try:
        args_bytes = sum(len(arg.encode()) + 1 for arg in args)
        stdin_bytes = len((stdin or "").encode())
    except UnicodeEncodeError as error:
        msg = "args and stdin must be Unicode text, found a lone surrogate"
        raise AgentError(msg) from error
    if any("\0" in arg for arg in args):
        msg = "args must not hold NUL characters"
        raise AgentError(msg)
    if args_bytes > _ARGS_LIMIT_BYTES or stdin_bytes > _STDIN_LIMIT_BYTES:
        msg = (
            f"args of {args_bytes} and stdin of {stdin_bytes} bytes, "
            f"at most {_ARGS_LIMIT_BYTES} and {_STDIN_LIMIT_BYTES} allowed"
        )
        raise AgentError(msg)
    return KubectlCall(args=tuple(args), stdin=stdin)


def kubectl_environment(workspace: Workspace) -> dict[str, str]:
    """Return the environment of kubectl: what the user hands to the agent stays out. Pure."""
    names = ("PATH", "HOME", "KUBECONFIG", *PASSED_NAMES)
    return {name: value for name, value in workspace.environment.items() if name in names}


def run_kubectl(
    arguments: Mapping[str, Any], *, workspace: Workspace, timeout_s: float
) -> ToolResult:
    """Run kubectl as the agent, or say why not.

    Args:
        arguments: What the model gave.
        workspace: Its identity.
        timeout_s: Bound in seconds; at most `KUBECTL_TIMEOUT_S` are used.

    Raises:
        PrerequisiteError: kubectl cannot be executed, which is no doing of the model's.
    """
    try:
        call = parse_kubectl_call(arguments)
    except AgentError as error:
        return ToolResult(text=f"error: {error.message}")
    if problem := refuse(call.args):
        return ToolResult(text=f"error: {problem}")
    bound_s = min(timeout_s, KUBECTL_TIMEOUT_S)
    finished = run(
        [str(workspace.kubectl), *call.args],
        env=kubectl_environment(workspace),
        timeout_s=bound_s,
        cwd=workspace.home,
        stdin=None if call.stdin is None else call.stdin.encode(),
        limit_bytes=_READ_LIMIT_BYTES,
        interrupt_grace_s=_GRACE_S,
    )
    ended = f"exit code {finished.returncode}"
    if finished.timed_out:
        ended = f"ended after {bound_s:g} s, it may or may not have taken effect"
    said = "\n".join(part.strip("\n") for part in (finished.stdout, finished.stderr) if part)
    text = truncated(masked(said, workspace.secrets), limit_bytes=OUTPUT_LIMIT_BYTES)
    return ToolResult(text=f"{ended}\n{text}", survivors=finished.survivors)
