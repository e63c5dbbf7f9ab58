"""Workers that are processes: what they say, how they end, and what becomes of those at work."""

from __future__ import annotations

import os
import queue
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.agents.command import ControlAgent
from harness.bench.handing import Inbox, Listener, hand_out
from harness.bench.jobs import WorkerProcess
from harness.bench.messages import Handed, Opening, from_inward, inward
from harness.core.child import Child
from harness.core.files import read_lines
from harness.errors import ConfigError

#: A worker that says what it was told; an attempt called `dies` it does not survive.
_PROGRAM = """
import json, os, signal, sys
sys.stdin.readline()
for line in sys.stdin:
    number, what = line.split()
    print(json.dumps({"say": f"at {number}"}), flush=True)
    if what == "dies":
        print("it went wrong", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "waits":
        try:
            signal.pause()
        except KeyboardInterrupt:
            print(json.dumps({"done": int(number), "interrupted": True}), flush=True)
            continue
    print(json.dumps({"done": int(number), "interrupted": False}), flush=True)
"""


class _Run:
    """One hand-out to real processes, and what came of it."""

    def __init__(self, *attempts: str) -> None:
        self.said: list[str] = []
        self.done: list[tuple[int, bool]] = []
        self.lost: list[tuple[int, str]] = []
        self._lines = [f"{number} {what}\n".encode() for number, what in enumerate(attempts)]
        self._inbox: Inbox = queue.SimpleQueue()

    def _start(self) -> WorkerProcess:
        return WorkerProcess(
            b"opening\n",
            self._lines,
            inbox=self._inbox,
            say=self.said.append,
            argv=(sys.executable, "-c", _PROGRAM),
        )

    def hand_out(self, *, count: int) -> None:
        hand_out(
            len(self._lines),
            count=count,
            start=self._start,
            inbox=self._inbox,
            listener=Listener(
                done=lambda number, interrupted: self.done.append((number, interrupted)),
                lost=lambda number, why: self.lost.append((number, why)),
                heard=lambda: len(self.said) == len(self._lines) and "waits" in str(self._lines),
            ),
        )


def test_processes_carry_out_what_they_are_handed_and_say_so() -> None:
    run = _Run("works", "works", "works")

    run.hand_out(count=2)

    assert sorted(run.done) == [(0, False), (1, False), (2, False)]
    assert sorted(run.said) == ["at 0", "at 1", "at 2"]
    assert run.lost == []


def test_a_process_that_dies_is_told_with_how_and_what_it_said_last() -> None:
    run = _Run("dies", "works")

    run.hand_out(count=1)

    assert run.lost == [(0, "was ended by signal 9: it went wrong")]
    assert run.done == [(1, False)]


def test_an_interrupt_reaches_a_process_at_work() -> None:
    run = _Run("waits", "waits")

    run.hand_out(count=2)

    assert sorted(run.done) == [(0, True), (1, True)]
    assert run.lost == []


def test_what_no_other_process_can_be_given_is_refused_before_one_is_started() -> None:
    handed = Handed(number=0, job=lambda: None)  # type: ignore[arg-type]  # as an agent with one

    with pytest.raises(ConfigError) as caught:
        inward(handed)

    assert caught.value.message.startswith("this agent cannot act in another process: ")
    assert caught.value.hint == "use --jobs 1"


def test_an_agent_comes_through_a_line_as_it_was(tmp_path: Path) -> None:
    control = tmp_path / "control"
    control.write_text("#!/bin/sh\n")
    control.chmod(0o755)
    agent = ControlAgent(control)

    line = inward(Handed(number=3, job=agent))  # type: ignore[arg-type]  # an agent will do

    assert line.count(b"\n") == 1
    handed = from_inward(line)
    assert handed.number == 3
    assert handed.job.description == agent.description
    assert not isinstance(handed, Opening)


def test_two_processes_append_to_one_journal_and_no_line_is_lost(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    program = (
        "import sys; from pathlib import Path; from harness.core.files import append_line\n"
        "for number in range(150):\n"
        "    append_line(Path(sys.argv[1]), {'by': sys.argv[2], 'n': number, 'pad': 'x' * 20_000})"
    )

    with ExitStack() as stack:
        children = [
            stack.enter_context(
                Child([sys.executable, "-c", program, str(journal), name], env=os.environ)
            )
            for name in ("a", "b")
        ]
        assert all(child.wait(60.0) for child in children)

    lines = [(line["by"], line["n"]) for line in read_lines(journal)]
    assert sorted(lines) == [(name, number) for name in ("a", "b") for number in range(150)]
