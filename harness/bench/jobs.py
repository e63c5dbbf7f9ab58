"""Carry out the attempts of a run: one after the other here, or several side by side in workers.

An attempt is a sequence with one interrupt of its own, so what runs beside it runs in another
process. Called by the runner and by the proof of a suite.
"""

from __future__ import annotations

import os
import queue
import sys
from collections.abc import Callable, Sequence

from harness.bench.attempt import Attempt
from harness.bench.course import Attempted
from harness.bench.handing import Inbox, Listener, Report, hand_out
from harness.bench.losses import record_loss
from harness.bench.messages import Handed, Job, Opening, from_outward, inward
from harness.bench.rundir import AttemptDir, RunJournal
from harness.bench.session import Session
from harness.core.child import Child
from harness.core.files import read_json
from harness.core.interrupts import noticed
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.model.results import AttemptResult
from harness.model.spec import CaseResult

#: Bytes of a worker's errors that are kept; a traceback has some thousand.
_KEPT_BYTES = 64 * 1024

#: Told an attempt's place among the jobs, and what came of it.
Ended = Callable[[int, Attempted], None]


def carry_out(
    session: Session,
    jobs: Sequence[Job],
    *,
    count: int,
    journal: RunJournal,
    say: Callable[[str], None],
    ended: Ended,
    clock: Clock = SYSTEM_CLOCK,
) -> bool:
    """Carry out every attempt; tell whether an interrupt stopped it.

    Args:
        session: What they share.
        jobs: The attempts, in order.
        count: How many at once; 1 keeps them in this process.
        journal: The run's.
        say: Told about progress, a line at a time.
        ended: Told of each attempt as it ends, on this thread.
        clock: Source of time.

    Raises:
        ConfigError: The agent cannot be handed to another process.
        KeyboardInterrupt: A second interrupt came during a sweep.
    """
    count = min(count, len(jobs))
    if count > 1:
        return _side_by_side(session, jobs, count=count, journal=journal, say=say, ended=ended)
    for number, job in enumerate(jobs):
        attempted = Attempt(
            session,
            job.plan,
            job.agent,
            bundle=job.bundle,
            journal=journal,
            say=say,
            clock=clock,
        ).run()
        ended(number, attempted)
        if attempted.interrupted:
            return True
    return False


def _side_by_side(
    session: Session,
    jobs: Sequence[Job],
    *,
    count: int,
    journal: RunJournal,
    say: Callable[[str], None],
    ended: Ended,
) -> bool:
    opening = inward(Opening.of(session, journal.path))
    lines = [inward(Handed(number=number, job=job)) for number, job in enumerate(jobs)]
    inbox: Inbox = queue.SimpleQueue()

    def done(number: int, interrupted: bool) -> None:  # noqa: FBT001 - a callback's signature
        ended(number, recall(jobs[number].bundle, interrupted=interrupted))

    def lost(number: int, why: str) -> None:
        ended(number, record_loss(session, jobs[number], journal, why=why))

    with noticed(say) as heard:
        hand_out(
            len(jobs),
            count=count,
            start=lambda: WorkerProcess(opening, lines, inbox=inbox, say=say),
            inbox=inbox,
            listener=Listener(done=done, lost=lost, heard=heard),
        )
        return heard()


def recall(bundle: AttemptDir, *, interrupted: bool) -> Attempted:
    """Return what came of an attempt that another process carried out, from its bundle."""
    shown = bundle.file("specs.json")
    specs = read_json(shown) if shown.is_file() else {"cases": (), "strangers": ()}
    return Attempted(
        result=AttemptResult.model_validate(read_json(bundle.result)),
        leftovers=tuple(read_json(bundle.file("sweep.json"))["leftovers"]),
        cases=tuple(CaseResult.model_validate(case) for case in specs["cases"]),
        strangers=tuple(specs["strangers"]),
        interrupted=interrupted,
    )


class WorkerProcess:
    """A worker that is a process, under a leash: it dies with this one. See `handing.Worker`."""

    def __init__(
        self,
        opening: bytes,
        lines: Sequence[bytes],
        *,
        inbox: Inbox,
        say: Callable[[str], None],
        argv: Sequence[str] = (sys.executable, "-m", "harness.bench.worker"),
    ) -> None:
        """Start it, on the main thread.

        Args:
            opening: The session, as a line.
            lines: The attempts, as lines.
            inbox: Where it reports.
            say: Told what it says.
            argv: What to start.
        """
        self._lines = lines

        def hear(line: str) -> None:
            told = from_outward(line)
            if "say" in told:
                say(told["say"])
            if "done" in told:
                report = Report(
                    worker=self, number=told["done"], interrupted=told.get("interrupted", False)
                )
                inbox.put(report)

        self._child = Child(
            argv,
            env=os.environ,
            stdin_open=True,
            on_line=hear,
            limit_bytes=_KEPT_BYTES,
        )
        self._child.write_stdin(opening)

    def give(self, number: int) -> None:
        """Hand an attempt over; a worker that is gone is found to be."""
        self._child.write_stdin(self._lines[number])

    def interrupt(self) -> None:
        """Send one SIGINT to the worker alone."""
        self._child.interrupt()

    @property
    def running(self) -> bool:
        """Whether anything of it is still there."""
        return self._child.running

    def end(self) -> str:
        """End the whole tree; return how the worker ended."""
        finished = self._child.end()
        code = finished.returncode
        how = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
        said = finished.stderr.strip().splitlines()
        return f"{how}: {said[-1]}" if said else how
