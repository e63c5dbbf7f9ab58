"""Run a command that takes minutes, and say so while it runs.

Owns the lines of progress and the bound; refuses to know what the command is for. Called by
whoever makes a part of an image.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from harness.core.process import Child, Finished, await_end
from harness.errors import PrerequisiteError

Progress = Callable[[str], None]

#: Seconds between two lines of progress.
PROGRESS_EVERY_S = 10.0

#: Characters of stderr that an error carries.
_TAIL_CHARS = 1500


class Runs(Protocol):
    """What runs a command to its end; tests pass a strict stand-in."""

    def __call__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        what: str,
        timeout_s: float,
        progress: Progress,
    ) -> Finished:
        """Run it; raise PrerequisiteError unless it exited 0 in time."""
        ...


def run_long(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    what: str,
    timeout_s: float,
    progress: Progress,
) -> Finished:
    """Run a command to its end, with a line of progress every 10 s.

    Args:
        argv: Program and arguments; no shell.
        env: The whole environment of the child.
        what: The work, as a noun; it opens every line and message.
        timeout_s: Bound in seconds; the whole tree is ended when it passes.
        progress: Told when it began, goes on and has ended.

    Raises:
        PrerequisiteError: It exited with another code than 0, or took too long; the message has
            the end of its stderr.
    """
    progress(what)
    with Child(argv, env=env) as child:
        ended = await_end(
            child,
            timeout_s=timeout_s,
            say_every_s=PROGRESS_EVERY_S,
            say=lambda took_s: progress(f"{what}: {took_s:.0f} s"),
        )
    if ended.timed_out:
        msg = f"{what} took longer than {timeout_s:g} s: {_tail(ended)}"
        raise PrerequisiteError(msg, hint="try again with a faster line to the packages")
    if ended.returncode != 0:
        msg = f"{what}: {argv[0]} exited {ended.returncode}: {_tail(ended)}"
        raise PrerequisiteError(msg, hint="mend what the last line names, and try again")
    progress(f"{what}: done in {ended.duration_s:.0f} s")
    return ended


def _tail(ended: Finished) -> str:
    return ended.stderr[-_TAIL_CHARS:].strip() or "no output"
