"""Run one Terraform command inside its bounds and turn its end into a value or a typed error.

One SIGINT when the time is up or the caller gives up, a grace in which the state is written, then
the end of the whole tree. `stack` and `variables` call it; it knows no options of Terraform's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.core.files import append_line
from harness.core.process import INTERRUPT_GRACE_S, Child, Finished
from harness.core.waiting import SYSTEM_CLOCK
from harness.errors import TerraformError
from harness.terraform.command_line import command_line
from harness.terraform.diagnostics import Diagnostic, parse_events, read_diagnostics
from harness.terraform.engine import Engine
from harness.terraform.outcomes import GOOD, Outcome, outcome_error, outcome_of

#: Bytes of standard output kept. `show -json` of a stack with 100 manifests is 2 MB.
_STDOUT_LIMIT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Time limits of the operations, in seconds.

    Attributes:
        init_s: 0.2 s from a mirror; a registry download of a provider takes tens of seconds.
        plan_s: 0.6 s for 23 objects; a silent API server holds it for 10 s.
        apply_s: 3 s for 23 objects; a CRD that has to be served adds 10 s.
        destroy_s: 1 s for 23 objects; a finalizer can hold one object for a minute.
        lock_s: Waiting for another holder of the state, within the others.
        read_s: Reading the state or a plan file; 0.1 s.
        grace_s: Between the one interrupt and the end of the tree.
    """

    init_s: float = 300.0
    plan_s: float = 120.0
    apply_s: float = 600.0
    destroy_s: float = 300.0
    lock_s: float = 10.0
    read_s: float = 60.0
    grace_s: float = INTERRUPT_GRACE_S

    @property
    def lock_timeout(self) -> str:
        """The wait for another holder, as the engines write it."""
        return f"{self.lock_s:g}s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A command that ended well.

    Attributes:
        outcome: One of the good ones.
        events: The parsed stream, in order.
        diagnostics: Warnings.
        stdout: The whole output; may hold secrets, and is never logged.
    """

    outcome: Outcome
    events: tuple[Mapping[str, Any], ...] = field(repr=False)
    diagnostics: tuple[Diagnostic, ...]
    stdout: str = field(repr=False)

    def document(self, command: str, *, decoder: json.JSONDecoder | None = None) -> Any:
        """Return the one JSON document that was printed, passing over a wrapper's lines before it.

        Args:
            command: Its name in messages.
            decoder: What reads it; None is Python's own, which rounds long fractions.

        Raises:
            TerraformError: There is none; the output itself is not shown, it may hold secrets.
        """
        for start in re.finditer(r"^\{", self.stdout, re.MULTILINE):
            try:
                return (decoder or json.JSONDecoder()).raw_decode(self.stdout, start.start())[0]
            except json.JSONDecodeError:
                continue
        msg = f"{command}: printed {len(self.stdout)} characters, expected one JSON document"
        raise TerraformError(msg, hint="point the harness at the engine itself, not at a wrapper")


def run_command(
    argv: Sequence[str],
    *,
    command: str,
    env: Mapping[str, str],
    cwd: Path,
    timeout_s: float,
    secrets: frozenset[str] = frozenset(),
    on_line: Callable[[str], None] | None = None,
    grace_s: float = INTERRUPT_GRACE_S,
) -> Completed:
    """Run a command to its end.

    Args:
        argv: The whole command line.
        command: Its name in messages, for example `terraform apply`.
        env: The whole environment.
        cwd: The root module.
        timeout_s: Bound in seconds.
        secrets: Texts that no message may contain.
        on_line: Called in a thread with each line of the stream, as it comes.
        grace_s: Seconds between the one interrupt and the end of the tree.

    Raises:
        TerraformOutcomeError: It ended in any other way than well.
    """
    finished = _run(argv, env=env, cwd=cwd, timeout_s=timeout_s, on_line=on_line, grace_s=grace_s)
    events = tuple(parse_events(finished.stdout))
    diagnostics = read_diagnostics(events, finished.stderr)
    outcome = outcome_of(finished, events, diagnostics)
    if outcome not in GOOD:
        raise outcome_error(
            command,
            finished,
            outcome,
            diagnostics,
            secrets,
            now=SYSTEM_CLOCK.now(),
            state_dump=next((event["state"] for event in events if "state" in event), None),
        )
    return Completed(
        outcome=outcome, events=events, diagnostics=diagnostics, stdout=finished.stdout
    )


def _run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    timeout_s: float,
    on_line: Callable[[str], None] | None,
    grace_s: float,
) -> Finished:
    with Child(argv, env=env, cwd=cwd, on_line=on_line, limit_bytes=_STDOUT_LIMIT_BYTES) as child:
        try:
            in_time = child.wait(timeout_s)
        except BaseException:
            # The caller was interrupted. Terraform gets one interrupt and its grace, so that it
            # writes down what it made; a second interrupt would lose most of the state.
            child.interrupt()
            child.wait(grace_s)
            raise
        if not in_time:
            child.interrupt()
            child.wait(grace_s)
            child.end()
        return child.finished(timed_out=not in_time)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Where the commands of one stack run, and the log that gets one line for each.

    Attributes:
        engine: What runs them.
        work_dir: A folder that holds no state.
        env: The whole environment.
        cwd: The root module.
        log_path: File to append to; it gets names, seconds and outcomes, never an output.
        secrets: Texts that no message may contain.
        grace_s: Seconds between the one interrupt and the end of the tree.
    """

    engine: Engine
    work_dir: Path
    env: Mapping[str, str]
    cwd: Path
    log_path: Path
    secrets: frozenset[str]
    grace_s: float

    def run(
        self,
        subcommand: str,
        *arguments: str,
        timeout_s: float,
        on_line: Callable[[str], None] | None = None,
        **options: Any,
    ) -> Completed:
        """Run one command of the engine; see `command_line` and `run_command`."""
        argv = command_line(self.engine.path, self.work_dir, subcommand, *arguments, **options)
        command = f"{self.engine.name} {subcommand}"
        started_s = SYSTEM_CLOCK.monotonic_s()
        said = "stopped by the harness"
        try:
            completed = run_command(
                argv,
                command=command,
                env=self.env,
                cwd=self.cwd,
                timeout_s=timeout_s,
                secrets=self.secrets,
                on_line=on_line,
                grace_s=self.grace_s,
            )
            said = str(completed.outcome)
        except TerraformError as error:
            said = str(error)
            raise
        finally:
            entry = {
                "at": SYSTEM_CLOCK.now().isoformat(),
                "command": command,
                "seconds": round(SYSTEM_CLOCK.monotonic_s() - started_s, 3),
                "outcome": said,
            }
            with suppress(OSError):  # a log that cannot be written hides no outcome
                append_line(self.log_path, entry)
        return completed
