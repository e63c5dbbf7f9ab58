"""Agents that are a command: anything with an argv, and the controls that prove a suite.

It owns the run of the process inside its limits and the reading of how it ended; it refuses to know
what the command does. `bench` builds a `CommandAgent` or a `ControlAgent` and calls `act`.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.agents.agent import (
    PROMPT_FILE,
    STDERR_FILE,
    STDOUT_FILE,
    Assignment,
    save_prompt,
    save_usage,
)
from harness.agents.command_line import (
    brings_prompt,
    check_arguments,
    fill,
    parse_command,
    shown_command,
)
from harness.agents.foreign_text import excerpt, mask_file
from harness.agents.sandbox import ISOLATION
from harness.agents.usage import LINE_LIMIT_BYTES, Usage, parse_usage
from harness.core.files import canonical_json
from harness.core.process import Finished, run
from harness.errors import ConfigError, PrerequisiteError
from harness.model.agent import AgentDescription, AgentOutcome

#: Seconds between the interrupt at the time limit and the end: enough to print a line of usage.
_GRACE_S = 1.0


def read_end(finished: Finished, *, act_seconds: float, said: str) -> str | None:
    """Return why a command did not end well, or None. Pure.

    Args:
        finished: How it ended.
        act_seconds: Its time limit, in seconds.
        said: What it said last, ready to print.
    """
    if finished.timed_out:
        return f"did not finish within {act_seconds:g} s"
    code = finished.returncode
    if code == 0:
        return None
    ended = f"exited with code {code}" if code > 0 else f"was ended by {_signal_name(-code)}"
    return f"{ended}: {said}" if said else f"{ended} and said nothing"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no name
        return f"signal {number}"


class _LastLine:
    """Keeps the last line that is not blank; a callback of the output's pump."""

    def __init__(self) -> None:
        self.text = ""

    def __call__(self, line: str) -> None:
        if line.strip():
            self.text = line


@dataclass(frozen=True, slots=True, kw_only=True)
class _Act:
    """One run of a command: what to start, and where its output goes."""

    argv: tuple[str, ...]
    stdin: bytes | None
    assignment: Assignment

    @property
    def _paths(self) -> tuple[Path, Path]:
        folder = self.assignment.agent_dir
        return folder / STDOUT_FILE, folder / STDERR_FILE

    def run(self) -> AgentOutcome:
        """Run it to its end or its limit.

        Raises:
            ConfigError: An argument cannot be handed to a process.
        """
        check_arguments(self.argv)
        last_line = _LastLine()
        workspace, limits = self.assignment.workspace, self.assignment.limits
        stdout_path, stderr_path = self._paths
        try:
            finished = run(
                self.argv,
                env=workspace.environment,
                timeout_s=limits.act_seconds,
                cwd=workspace.home,
                stdin=self.stdin,
                stdout_path=stdout_path,
                stderr_path=stderr_path,
                on_line=last_line,
                limit_bytes=limits.max_output_bytes,
                interrupt_grace_s=_GRACE_S,
            )
        except PrerequisiteError as error:  # for one, a script whose interpreter is not there
            outcome = AgentOutcome(error=error.message, seconds=0.0)
            return save_usage(self.assignment.agent_dir, outcome)
        for path in self._paths:
            mask_file(path, workspace.secrets)
        return self._outcome(finished, parse_usage(last_line.text))

    def _outcome(self, finished: Finished, usage: Usage) -> AgentOutcome:
        stdout_path, stderr_path = self._paths
        said = _tail(stderr_path) or _tail(stdout_path)
        error = read_end(
            finished,
            act_seconds=self.assignment.limits.act_seconds,
            said=excerpt(said, self.assignment.workspace.secrets),
        )
        outcome = AgentOutcome(
            error=error,
            seconds=finished.duration_s,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=usage.cost_usd,
            survivors=finished.survivors,
            exit_code=finished.returncode,
            timed_out=finished.timed_out,
        )
        return save_usage(self.assignment.agent_dir, outcome)


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        size_bytes = file.seek(0, os.SEEK_END)
        file.seek(max(0, size_bytes - LINE_LIMIT_BYTES))
        return file.read(LINE_LIMIT_BYTES).decode(errors="replace").strip()


class CommandAgent:
    """A command line of the user's: `--agent-command`."""

    def __init__(self, command: str, *, ambient: Mapping[str, str] = os.environ) -> None:
        """Check the command before anything exists.

        Args:
            command: Split once as a shell would, run without one. It runs in the agent's home, so
                that relative arguments mean nothing; a relative program is resolved here.
            ambient: The caller's environment; its PATH finds the program.

        Raises:
            ConfigError: The command cannot be used.
            PrerequisiteError: The program is not there, or cannot be executed.
        """
        argv = parse_command(command)
        found = shutil.which(argv[0], path=ambient.get("PATH", os.defpath))
        if found is None:
            msg = f"--agent-command: no executable {argv[0]!r}"
            raise PrerequisiteError(msg, hint="give its path, or put it on the PATH")
        # Not resolve(): a virtual environment's python is a link, and must stay one.
        self._argv = (str(Path(found).absolute()), *argv[1:])
        self._description = AgentDescription(
            kind="command",
            name=Path(argv[0]).name,
            isolation=ISOLATION,
            settings={"command": shown_command(argv)},
        )

    @property
    def description(self) -> AgentDescription:
        """Who it is, for the report."""
        return self._description

    def act(self, assignment: Assignment) -> AgentOutcome:
        """Run the command once; see `Agent.act`."""
        prompt, workspace = assignment.prompt, assignment.workspace
        save_prompt(assignment.agent_dir, prompt)
        save_prompt(workspace.home, prompt)
        values = {
            "kubeconfig": str(workspace.kubeconfig),
            "namespace": workspace.namespace,
            "prompt": prompt,
            "prompt_file": str(workspace.home / PROMPT_FILE),
        }
        return _Act(
            argv=fill(self._argv, values),
            stdin=None if brings_prompt(self._argv) else prompt.encode("utf-8", "surrogatepass"),
            assignment=assignment,
        ).run()


class ControlAgent:
    """An executable with known behaviour: `control:NAME`, through the same door as any agent."""

    def __init__(self, path: Path) -> None:
        """Check the executable before anything exists.

        Raises:
            ConfigError: It is not there, or cannot be executed.
        """
        self._path = path.absolute()
        if not path.is_file() or not os.access(path, os.X_OK):
            msg = f"control {path.stem!r}: {path} is no executable file"
            raise ConfigError(msg, hint="check the name, and set the file's executable bit")
        self._description = AgentDescription(kind="control", name=path.stem, isolation=ISOLATION)

    @property
    def description(self) -> AgentDescription:
        """Who it is, for the report."""
        return self._description

    def act(self, assignment: Assignment) -> AgentOutcome:
        """Run the control once, with JSON on its standard input; see `Agent.act`."""
        save_prompt(assignment.agent_dir, assignment.prompt)
        told = {
            "task_id": assignment.task_id,
            "prompt": assignment.prompt,
            "variables": dict(assignment.variables),
        }
        return _Act(
            argv=(str(self._path),),
            stdin=canonical_json(told),
            assignment=assignment,
        ).run()
