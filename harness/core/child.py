"""A running command under its leash: fed, read, interrupted, frozen, crashed, ended.

The leash dies with the thread that started it: start what must outlive a thread from the main one.
Output is read by bounded pumps, never by `communicate`, which hangs on a grandchild that holds the
pipe.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from harness.core.exits import await_exit
from harness.core.pump import Pump
from harness.core.waiting import SYSTEM_CLOCK
from harness.errors import PrerequisiteError

_LEASH = str(Path(__file__).with_name("leash.py"))

#: Bytes of one stream kept in memory. Terraform's longest JSON stream here is 200 kB.
OUTPUT_LIMIT_BYTES = 8 * 1024 * 1024

#: Seconds that the end of a tree may take: the leash's own grace of 2 s and a margin.
_END_S = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a command ended.

    Attributes:
        argv: What was run.
        returncode: Exit code, or minus the number of the signal that ended it.
        stdout: Captured text, undecodable bytes replaced; empty when it went to a file.
        stderr: The same for the other stream.
        duration_s: Wall time in seconds.
        timed_out: Whether it was ended because its time was up.
        survivors: How many processes it had left running; they were killed.
    """

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    duration_s: float
    timed_out: bool
    survivors: int


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep SIGINT and SIGTERM for the end of the block."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _fork(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path | None, stdin: bool, fate: str
) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Start a leash with its command; return it and the end of the pipe that it reports on."""
    read, write = os.pipe()
    try:
        leash = subprocess.Popen(
            [sys.executable, "-I", "-S", _LEASH, str(os.getpid()), str(write), fate, "--", *argv],
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(write,),
            start_new_session=True,
        )
    except BaseException:
        os.close(read)
        raise
    finally:
        os.close(write)
    return leash, os.fdopen(read, "rb")


class Child:
    """A running command. Use it as a context manager: leaving ends the whole tree."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path | None = None,
        stdin: bytes | None = None,
        stdin_open: bool = False,
        stdout_path: Path | None = None,
        stderr_path: Path | None = None,
        on_line: Callable[[str], None] | None = None,
        limit_bytes: int = OUTPUT_LIMIT_BYTES,
        keep_survivors: bool = False,
    ) -> None:
        """Start it.

        Args:
            argv: Program and arguments; no shell.
            env: The whole environment of the child.
            cwd: Working directory.
            stdin: Bytes to feed, then end of file; None closes it at once.
            stdin_open: Keep standard input open for `write_stdin`; `stdin` must then be None.
            stdout_path: File to append to instead of capturing; may equal `stderr_path`.
            stderr_path: The same for standard error.
            on_line: Called in a thread with each line of standard output.
            limit_bytes: Bytes kept of each stream.
            keep_survivors: Let live on what it leaves running when it ends by itself, as a command
                does that starts a container. Such a process must not hold its output open.

        Raises:
            PrerequisiteError: The program cannot be executed.
        """
        self.argv = tuple(argv)
        self._started_s = SYSTEM_CLOCK.monotonic_s()
        self._line = ""
        self._stdin_open = stdin_open
        opened = stdin is not None or stdin_open
        fate = "keep" if keep_survivors else "kill"
        try:
            # An interrupt between the fork and the first line after it would lose the process.
            with _interrupts_held():
                self._leash, self._report = _fork(argv, env=env, cwd=cwd, stdin=opened, fate=fate)
                self._out = Pump(
                    self._leash.stdout, path=stdout_path, limit_bytes=limit_bytes, on_line=on_line
                )
                self._err = Pump(
                    self._leash.stderr, path=stderr_path, limit_bytes=limit_bytes, on_line=None
                )
        except BaseException:
            if hasattr(self, "_leash"):
                self._stop(signal.SIGUSR2)
            raise
        if stdin is not None:
            self._feed(stdin)

    def _feed(self, data: bytes) -> None:
        pipe = self._leash.stdin

        def feed() -> None:
            if pipe is None:  # pragma: no cover - Popen was given PIPE
                return
            with suppress(BrokenPipeError, ConnectionResetError):
                pipe.write(data)
            with suppress(BrokenPipeError, ConnectionResetError):  # it flushes what was not taken
                pipe.close()

        threading.Thread(target=feed, daemon=True).start()

    def write_stdin(self, data: bytes) -> bool:
        """Write to an input that was kept open; tell whether the command was there to take it."""
        pipe = self._leash.stdin
        if pipe is None or pipe.closed:
            return False
        try:
            pipe.write(data)
            pipe.flush()
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def close_stdin(self) -> None:
        """Close an input that was kept open. Idempotent."""
        pipe = self._leash.stdin
        if self._stdin_open and pipe is not None:
            with suppress(BrokenPipeError, ConnectionResetError):
                pipe.close()

    @property
    def pid(self) -> int:
        """The pid of the leash, which lives as long as anything below it."""
        return self._leash.pid

    @property
    def running(self) -> bool:
        """Whether anything of it is still there."""
        return self._leash.poll() is None

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end of the whole tree; tell whether it came within `timeout_s` seconds."""
        return await_exit(self._leash, timeout_s)

    def interrupt(self) -> None:
        """Send one SIGINT to the command alone."""
        self._send(signal.SIGINT)

    def crash(self) -> None:
        """Kill the command alone with SIGKILL, as a crash would."""
        self._send(signal.SIGUSR1)

    def freeze(self) -> None:
        """Stop the command alone with SIGSTOP: it does nothing at all until `thaw`, or its end."""
        self._send(signal.SIGTSTP)

    def thaw(self) -> None:
        """Let a frozen command go on, with SIGCONT."""
        self._send(signal.SIGCONT)

    def end(self, *, at_once: bool = False) -> Finished:
        """End the whole tree, with a grace of 2 s unless `at_once`. Idempotent."""
        self._stop(signal.SIGUSR2 if at_once else signal.SIGTERM)
        return self.finished(timed_out=False)

    def _stop(self, number: int) -> None:
        if self.running:
            self._send(number)
            if not self.wait(_END_S):  # a leash that does not answer was itself stopped or killed
                self._leash.kill()
                self._leash.wait()

    def finished(self, *, timed_out: bool) -> Finished:
        """Return how it ended. Call it after `wait` or `end`."""
        self._leash.wait()
        self.close_stdin()
        if not self._report.closed:
            with self._report as report:
                self._line = report.read().decode()
        self._out.join()
        self._err.join()
        returncode, survivors = self._outcome()
        return Finished(
            argv=self.argv,
            returncode=returncode,
            stdout=self._out.text(),
            stderr=self._err.text(),
            duration_s=SYSTEM_CLOCK.monotonic_s() - self._started_s,
            timed_out=timed_out,
            survivors=survivors,
        )

    def _outcome(self) -> tuple[int, int]:
        if self._line.startswith("exec "):
            msg = f"cannot run {self.argv[0]!r}: {self._line[5:].strip()}"
            raise PrerequisiteError(msg, hint="check that the program exists and is executable")
        if not self._line:  # the leash itself was killed, and with it the command
            return -signal.SIGKILL, 0
        returncode, survivors = self._line.split()
        return int(returncode), int(survivors)

    def _send(self, number: int) -> None:
        if self.running:
            self._leash.send_signal(number)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop(signal.SIGTERM)
        self.close_stdin()
        self._report.close()
