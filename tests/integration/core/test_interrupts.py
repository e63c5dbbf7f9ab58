"""Real signals to a real process: what a Ctrl-C does to a sweep."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from harness.core.interrupts import shielded
from harness.core.process import Child, Finished, scrubbed_environment
from harness.core.waiting import wait_until

PROGRAM = """
import signal, sys, threading
from harness.core.interrupts import raise_interrupt, shielded

say = lambda text: print("said", text.partition(":")[0], flush=True)
signal.signal(signal.SIGTERM, raise_interrupt)
go = threading.Event()
try:
    with shielded(say):
        print("in", flush=True)
        sys.stdin.readline()
        print("out", flush=True)
    print("after", flush=True)
    sys.stdin.readline()
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(130)
"""


class _Program:
    """The program above, driven line by line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def play(self, *acts: tuple[str, int | bytes]) -> Finished:
        """Wait for each line in turn, and then send a signal or an input."""
        with Child(
            [sys.executable, "-c", PROGRAM],
            env=scrubbed_environment({}),
            cwd=Path.cwd(),
            stdin_open=True,
            on_line=self.lines.append,
        ) as child:
            for line, act in acts:
                wait_until(
                    lambda: self.lines[-1:],
                    [line].__eq__,
                    what=f"line {line!r}",
                    timeout_s=20,
                )
                if isinstance(act, bytes):
                    assert child.write_stdin(act)
                else:
                    child.interrupt()
            assert child.wait(20)
            return child.finished(timed_out=False)


def test_a_first_interrupt_waits_for_the_end_of_the_block() -> None:
    program = _Program()

    found = program.play(("in", signal.SIGINT), ("said interrupted", b"go\n"))

    assert program.lines == ["in", "said interrupted", "out", "interrupted"]
    assert found.returncode == 130


def test_a_second_interrupt_goes_through() -> None:
    program = _Program()

    found = program.play(("in", signal.SIGINT), ("said interrupted", signal.SIGINT))

    assert program.lines == ["in", "said interrupted", "interrupted"]
    assert found.returncode == 130


def test_without_an_interrupt_the_block_changes_nothing() -> None:
    program = _Program()

    found = program.play(("in", b"go\n"), ("after", b"go\n"))

    assert program.lines == ["in", "out", "after"]
    assert found.returncode == 0


def test_after_the_block_an_interrupt_is_an_interrupt_again() -> None:
    program = _Program()

    found = program.play(("in", b"go\n"), ("after", signal.SIGINT))

    assert program.lines == ["in", "out", "after", "interrupted"]
    assert found.returncode == 130


def test_a_signal_to_end_counts_as_an_interrupt() -> None:
    script = f'{sys.executable} -c "$PROGRAM" & echo $!; wait $!; echo code $?'
    lines: list[str] = []
    with Child(
        ["bash", "-c", f"exec 3<&0; {script.replace(' &', ' <&3 &', 1)}"],
        env=scrubbed_environment({"PROGRAM": PROGRAM}),
        cwd=Path.cwd(),
        stdin_open=True,
        on_line=lines.append,
    ) as child:
        wait_until(lambda: list(lines), lambda seen: "in" in seen, what="start", timeout_s=20)
        pid = next(int(line) for line in lines if line.isdigit())
        os.kill(pid, signal.SIGTERM)
        wait_until(
            lambda: list(lines),
            lambda seen: "said interrupted" in seen,
            what="answer",
            timeout_s=20,
        )
        assert child.write_stdin(b"go\n")
        assert child.wait(20)

    assert lines[-3:] == ["out", "interrupted", "code 130"]


def test_an_error_in_the_block_is_raised_and_the_old_handler_is_back() -> None:
    before = signal.getsignal(signal.SIGINT)

    with pytest.raises(KeyError, match="inside"), shielded(print):
        _lookup_fails()

    assert signal.getsignal(signal.SIGINT) is before


def _lookup_fails() -> None:
    inside: dict[str, str] = {}
    inside["inside"]


def test_in_another_thread_there_is_nothing_to_hold_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    done: list[bool] = []

    def work() -> None:
        with shielded(print):
            done.append(signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)

    assert done == [True]
