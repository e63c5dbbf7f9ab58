"""Commands and controls as real processes, the ill-behaved ones included."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from harness.agents.agent import Agent, Assignment
from harness.agents.command import CommandAgent, ControlAgent
from harness.agents.sandbox import Workspace
from harness.core.files import read_json
from harness.errors import ConfigError
from harness.model.agent import AgentLimits, AgentOutcome
from tests.integration.agents.conftest import TOKEN

PROMPT = "mix red and blue\n"


def act(
    agent: Agent, workspace: Workspace, agent_dir: Path, *, limits: AgentLimits | None = None
) -> AgentOutcome:
    """Let an agent act on one small task."""
    return agent.act(
        Assignment(
            prompt=PROMPT,
            task_id="mix",
            variables={"namespace": "lab-1", "mass_g": 5},
            workspace=workspace,
            agent_dir=agent_dir,
            limits=limits or AgentLimits(act_seconds=20),
        )
    )


def shell(script: str) -> CommandAgent:
    """Return an agent that is a line of shell."""
    return CommandAgent(f"sh -c {shlex.quote(script)}")


def test_the_prompt_comes_on_standard_input_and_usage_from_the_last_line(
    workspace: Workspace, agent_dir: Path
) -> None:
    agent = shell('cat; pwd; echo "{\\"input_tokens\\": 7, \\"cost_usd\\": 0.5}"; echo')

    outcome = act(agent, workspace, agent_dir)

    assert outcome.model_copy(update={"seconds": 0.0}) == AgentOutcome(
        seconds=0.0, input_tokens=7, cost_usd=0.5, exit_code=0
    )
    said = (agent_dir / "stdout").read_text()
    assert said.startswith(f"{PROMPT}{workspace.home}\n")
    assert (agent_dir / "prompt.md").read_text() == PROMPT
    assert read_json(agent_dir / "usage.json")["input_tokens"] == 7


def test_a_prompt_in_an_argument_closes_standard_input(
    workspace: Workspace, agent_dir: Path
) -> None:
    script = 'cat; printf %s "$1$2$3$4"; cat "$4"'
    agent = CommandAgent(
        f"sh -c {shlex.quote(script)} x {{prompt}} {{namespace}} {{kubeconfig}} {{prompt_file}}"
    )

    act(agent, workspace, agent_dir)

    file = workspace.home / "prompt.md"
    said = (agent_dir / "stdout").read_text()
    assert said == f"{PROMPT}lab-1{workspace.kubeconfig}{file}{PROMPT}"


def test_a_namespace_in_an_argument_leaves_the_prompt_on_standard_input(
    workspace: Workspace, agent_dir: Path
) -> None:
    agent = CommandAgent("sh -c 'cat; echo $1' x {namespace}")

    act(agent, workspace, agent_dir)

    assert (agent_dir / "stdout").read_text() == f"{PROMPT}lab-1\n"


def test_a_command_sees_its_own_kubectl_first_and_the_listed_environment(
    workspace: Workspace, agent_dir: Path
) -> None:
    act(shell("kubectl get labruns; env | cut -d= -f1 | sort | tr '\\n' ' '"), workspace, agent_dir)

    listed, names = (agent_dir / "stdout").read_text().splitlines()
    assert listed == "listed"
    # The shell sets PWD (and some shells OLDPWD, SHLVL, _) by itself.
    assert set(names.split()) - {"PWD", "OLDPWD", "SHLVL", "_"} == {
        "AGENT_KEY",
        "HOME",
        "KUBECONFIG",
        "LC_ALL",
        "PATH",
    }


def test_a_failure_tells_the_code_and_the_end_of_what_was_said_without_secrets(
    workspace: Workspace, agent_dir: Path
) -> None:
    script = f"printf '\\033[31m%s %s {TOKEN}\\n' boom \"$AGENT_KEY\" >&2; exit 3"

    outcome = act(shell(script), workspace, agent_dir)

    assert outcome.error == "exited with code 3: \\x1b[31mboom *** ***"
    assert outcome.exit_code == 3
    assert (agent_dir / "stderr").read_text() == "\x1b[31mboom *** ***\n"


def test_a_failure_that_says_nothing_on_standard_error_tells_standard_output(
    workspace: Workspace, agent_dir: Path
) -> None:
    outcome = act(shell("echo no luck; exit 1"), workspace, agent_dir)

    assert outcome.error == "exited with code 1: no luck"


def test_a_command_that_ends_at_once_without_a_word_has_unknown_usage(
    workspace: Workspace, agent_dir: Path
) -> None:
    outcome = act(CommandAgent("true"), workspace, agent_dir)

    assert (outcome.error, outcome.input_tokens, outcome.cost_usd) == (None, None, None)


def test_a_command_killed_by_a_signal_says_which(workspace: Workspace, agent_dir: Path) -> None:
    outcome = act(shell("kill -SEGV $$"), workspace, agent_dir)

    assert outcome.error == "was ended by SIGSEGV and said nothing"


def test_a_command_that_hangs_and_ignores_signals_is_ended(
    workspace: Workspace, agent_dir: Path
) -> None:
    agent = shell("trap '' INT TERM; while :; do sleep 1; done")

    outcome = act(agent, workspace, agent_dir, limits=AgentLimits(act_seconds=0.5))

    assert (outcome.error, outcome.timed_out) == ("did not finish within 0.5 s", True)
    assert outcome.seconds < 10


def test_a_daemon_that_outlives_the_command_is_ended_and_counted(
    workspace: Workspace, agent_dir: Path
) -> None:
    outcome = act(shell("setsid sleep 600 & echo started"), workspace, agent_dir)

    assert (outcome.error, outcome.survivors) == (None, 1)


def test_endless_output_is_capped_and_marked(workspace: Workspace, agent_dir: Path) -> None:
    limits = AgentLimits(act_seconds=0.5, max_output_bytes=1000)

    outcome = act(shell("tr '\\0' x < /dev/zero"), workspace, agent_dir, limits=limits)

    assert outcome.timed_out
    said = (agent_dir / "stdout").read_bytes()
    assert said == b"x" * 1000 + b"\n[cut: more than 1000 bytes]\n"


def test_usage_is_known_although_the_output_was_capped(
    workspace: Workspace, agent_dir: Path
) -> None:
    limits = AgentLimits(act_seconds=20, max_output_bytes=10)
    agent = shell("seq 1 1000; echo '{\"output_tokens\": 9}'")

    outcome = act(agent, workspace, agent_dir, limits=limits)

    assert outcome.output_tokens == 9


def test_a_script_whose_interpreter_is_missing_is_the_agents_error(
    workspace: Workspace, agent_dir: Path, tmp_path: Path
) -> None:
    script = tmp_path / "agent.sh"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)

    outcome = act(CommandAgent(str(script)), workspace, agent_dir)

    assert outcome.error == f"cannot run {str(script)!r}: No such file or directory"
    assert outcome.exit_code is None


def test_a_command_that_removes_its_home_is_graded_all_the_same(
    workspace: Workspace, agent_dir: Path
) -> None:
    outcome = act(shell('rm -rf "$HOME"; echo gone'), workspace, agent_dir)

    assert outcome.error is None
    assert (agent_dir / "stdout").read_text() == "gone\n"


def test_a_prompt_too_long_for_an_argument_is_refused(
    workspace: Workspace, agent_dir: Path
) -> None:
    agent = CommandAgent("echo {prompt}")

    with pytest.raises(ConfigError) as caught:
        agent.act(
            Assignment(
                prompt="x" * 200_000,
                task_id="mix",
                variables={},
                workspace=workspace,
                agent_dir=agent_dir,
                limits=AgentLimits(),
            )
        )

    assert caught.value.hint == "use {prompt_file} instead of {prompt}"


def test_a_control_is_told_task_prompt_and_variables_as_json(
    workspace: Workspace, agent_dir: Path, tmp_path: Path
) -> None:
    control = tmp_path / "reference"
    control.write_text("#!/bin/sh\ncat\n")
    control.chmod(0o755)
    agent = ControlAgent(control)

    outcome = act(agent, workspace, agent_dir)

    assert outcome.error is None
    assert (agent.description.kind, agent.description.name) == ("control", "reference")
    assert json.loads((agent_dir / "stdout").read_text()) == {
        "task_id": "mix",
        "prompt": PROMPT,
        "variables": {"namespace": "lab-1", "mass_g": 5},
    }
