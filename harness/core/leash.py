"""Hold one command and all that it starts; end it all when told, or when the parent dies.

Run as a script by `harness.core.process`, never imported:
`python -I -S leash.py PARENT FD FATE -- ARGV`. It takes 15 ms and 8 MB, and gives what no plain
child has: a parent-death signal (so nothing outlives a harness that was killed), and sub-reaping
(so a grandchild that left its session is still ours to end). Standard library only.

Signals: INT is passed to the command alone; TERM ends the whole tree with a grace; USR1 kills the
command alone, as a crash would; USR2 kills the whole tree at once; TSTP freezes the command alone,
which it cannot prevent, and CONT lets it go on. When the command ends, what it left running is
killed and counted where FATE is `kill`; where it is `keep` and nobody ended the tree, it lives on.
The report on FD is one line: `RETURNCODE SURVIVORS`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time

#: linux/prctl.h
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

#: Seconds between TERM and KILL for a whole tree. etcd and the API server need under 1 s to close
#: their sockets; an ephemeral cluster must be gone within 5 s of a killed harness.
_GRACE_S = 2.0

#: Received by a leash to sent on to its command.
_PASSED_ON: dict[int, int] = {
    signal.SIGINT: signal.SIGINT,
    signal.SIGUSR1: signal.SIGKILL,
    signal.SIGTSTP: signal.SIGSTOP,
    signal.SIGCONT: signal.SIGCONT,
}

_SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR2, *_PASSED_ON)


def _descendants(root: int) -> list[int]:
    """Return the pids below `root`, parents before children, zombies left out."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib costs 10 ms of start-up here
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123
                fields = stat.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if fields[0] != b"Z":
            children.setdefault(int(fields[1]), []).append(int(name))
    found = list(children.get(root, ()))
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


class _Leash:
    """The command, its exit status once it has one, and the end of its tree."""

    def __init__(self, command: int) -> None:
        self.command = command
        self.returncode: int | None = None

    def reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.command:
                self.returncode = os.waitstatus_to_exitcode(status)

    def end_tree(self, grace_s: float) -> int:
        """Signal until nothing is left; return how many there were at first."""
        pids = _descendants(os.getpid())
        first = len(pids)
        deadline = time.monotonic() + grace_s
        if grace_s > 0:
            for pid in pids:
                _signal(pid, signal.SIGTERM)
        while pids:
            if time.monotonic() >= deadline:
                for pid in pids:
                    _signal(pid, signal.SIGKILL)
            self.reap()
            time.sleep(0.005)  # noqa: TID251 - no import of ours is possible under -I -S
            pids = _descendants(os.getpid())
        self.reap()
        return first


def _given_environment() -> dict[bytes, bytes]:
    """Return what this process was started with: Python adds LC_CTYPE to its own (PEP 538)."""
    with open("/proc/self/environ", "rb") as environ:  # noqa: PTH123
        entries = (entry.partition(b"=") for entry in environ.read().split(b"\0") if entry)
        return {name: value for name, _, value in entries}


def _start(argv: list[str], report: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    read, write = os.pipe()
    command = os.fork()
    if command:
        os.close(write)
        # The command holds the other end until exec, so this read is also the wait for it.
        failure = os.read(read, 4096)
        os.close(read)
        if failure:
            os.waitpid(command, 0)
            os.write(report, b"exec " + failure + b"\n")
            sys.exit(127)
        return command
    os.close(read)
    # Python ignores the first two, a shell's background job the third; exec would hand that on.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    try:
        os.execvpe(argv[0], argv, _given_environment())  # noqa: S606 - no shell is the point
    except OSError as error:
        os.write(write, str(error.strerror).encode())
    os._exit(127)


def main() -> None:
    """Start the command and serve signals until it and all below it are gone."""
    parent, report, kept = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "keep"
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    # Ignored, as some parents leave it, the kernel would reap the command before it is asked about.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(143)
    os.set_inheritable(report, False)  # noqa: FBT003 - positional only
    leash = _Leash(_start(sys.argv[5:], report))
    survivors = 0
    while leash.returncode is None:
        received = signal.sigwait(_SIGNALS)
        if received in _PASSED_ON:
            _signal(leash.command, _PASSED_ON[received])
        elif received == signal.SIGTERM:
            kept = False
            leash.end_tree(_GRACE_S)
        elif received == signal.SIGUSR2:
            kept = False
            leash.end_tree(0.0)
        leash.reap()
    if not kept:
        survivors = leash.end_tree(0.0)
    with contextlib.suppress(BrokenPipeError):
        os.write(report, f"{leash.returncode} {survivors}\n".encode())


main()
