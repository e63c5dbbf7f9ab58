"""Start commands and end them, whatever happens: argv in, whole tree ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.core.child import OUTPUT_LIMIT_BYTES, Child, Finished
from harness.core.waiting import SYSTEM_CLOCK

__all__ = [
    "OUTPUT_LIMIT_BYTES",
    "Child",
    "Finished",
    "await_end",
    "run",
    "scrubbed_environment",
    "start_detached",
]

#: Seconds between the one interrupt and the end of the tree. Terraform needs up to 2 s to let its
#: current calls end and write the state; a second interrupt would lose it.
INTERRUPT_GRACE_S = 15.0

#: Names of the caller's environment that a child of ours may see, beside what it is given.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER", "SSL_CERT_FILE", "SSL_CERT_DIR")


def scrubbed_environment(
    extra: Mapping[str, str],
    *,
    keep: Sequence[str] = _KEPT,
    ambient: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """Return the allowed part of `ambient` with `extra` on top. Pure but for its default."""
    return {name: ambient[name] for name in keep if name in ambient} | dict(extra)


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    timeout_s: float,
    cwd: Path | None = None,
    stdin: bytes | None = None,
    stdout_path: Path | None = None,
    stderr_path: Path | None = None,
    on_line: Callable[[str], None] | None = None,
    limit_bytes: int = OUTPUT_LIMIT_BYTES,
    interrupt_grace_s: float = INTERRUPT_GRACE_S,
    keep_survivors: bool = False,
) -> Finished:
    """Run a command to its end; when its time is up: one SIGINT, a grace, then the whole tree.

    Args:
        argv: Program and arguments; no shell.
        env: The whole environment of the child.
        timeout_s: Bound in seconds.
        cwd: Working directory.
        stdin: Bytes to feed; None closes standard input.
        stdout_path: File to append to instead of capturing.
        stderr_path: The same for standard error.
        on_line: Called in a thread with each line of standard output.
        limit_bytes: Bytes kept of each stream.
        interrupt_grace_s: Seconds between the interrupt and the kill.
        keep_survivors: Let live on what it leaves running when it ends by itself.

    Raises:
        PrerequisiteError: The program cannot be executed.
    """
    with Child(
        argv,
        env=env,
        cwd=cwd,
        stdin=stdin,
        stdout_path=stdout_path,
        stderr_path=stderr_path,
        on_line=on_line,
        limit_bytes=limit_bytes,
        keep_survivors=keep_survivors,
    ) as child:
        if child.wait(timeout_s):
            return child.finished(timed_out=False)
        child.interrupt()
        child.wait(interrupt_grace_s)
        child.end()
        return child.finished(timed_out=True)


def start_detached(argv: Sequence[str], *, env: Mapping[str, str], log_path: Path) -> int:
    """Start a process that outlives this one, in a session of its own; return its pid."""
    # Not Popen: its finalizer warns about, and later reaps, a child that is meant to live on.
    with log_path.open("ab") as log, Path(os.devnull).open("rb") as null:
        return os.posix_spawn(
            argv[0],
            list(argv),
            dict(env),
            file_actions=[
                (os.POSIX_SPAWN_DUP2, null.fileno(), 0),
                (os.POSIX_SPAWN_DUP2, log.fileno(), 1),
                (os.POSIX_SPAWN_DUP2, log.fileno(), 2),
            ],
            setsid=True,
            setsigmask=[],
        )


def await_end(
    child: Child, *, timeout_s: float, say_every_s: float, say: Callable[[float], None]
) -> Finished:
    """Wait for the end of a command that takes minutes; end the whole tree when its time is up.

    Args:
        child: What runs.
        timeout_s: Bound in seconds, looked at after each wait.
        say_every_s: Seconds of each wait.
        say: Told after each wait how many seconds it took so far.
    """
    began_s = SYSTEM_CLOCK.monotonic_s()
    while not child.wait(say_every_s):
        took_s = SYSTEM_CLOCK.monotonic_s() - began_s
        say(took_s)
        if took_s > timeout_s:
            return replace(child.end(), timed_out=True)
    return child.finished(timed_out=False)
