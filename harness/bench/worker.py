"""A process that carries out attempts for a run, one by one: `python -m harness.bench.worker`.

It has a client of its own and shares the run's cluster, platform and journal. It is told on
standard input what to do, says on standard output what it did, and ends with its input. An
interrupt ends the attempt in hand with its sweep, as in a run without workers.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from typing import BinaryIO

from harness.bench.attempt import Attempt
from harness.bench.messages import Handed, Opening, done, from_inward, saying
from harness.bench.rundir import RunJournal
from harness.core.interrupts import raise_interrupt
from harness.errors import HarnessError
from harness.kube.client import KubeClient

_EXIT_INTERRUPTED = 130


def work(orders: BinaryIO, tell: Callable[[bytes], None]) -> None:
    """Open a session, then carry out what comes until the orders end.

    Args:
        orders: Lines of `inward`: an Opening, then Handed ones.
        tell: Takes lines for the run.

    Raises:
        KeyboardInterrupt: While no attempt was in hand, or for a second time during its sweep.
    """
    opening: Opening = from_inward(orders.readline())
    journal = RunJournal(opening.journal_path)
    with closing(KubeClient.from_kubeconfig(opening.cluster.kubeconfig)) as client:
        session = opening.session(client)
        for line in orders:
            handed: Handed = from_inward(line)
            job = handed.job
            attempted = Attempt(
                session,
                job.plan,
                job.agent,
                bundle=job.bundle,
                journal=journal,
                say=lambda text: tell(saying(text)),
            ).run()
            tell(done(handed.number, interrupted=attempted.interrupted))


def main() -> None:
    """Work on standard input and output."""
    signal.signal(signal.SIGTERM, raise_interrupt)
    # What anything prints goes where errors go: standard output is the run's.
    voice = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def tell(line: bytes) -> None:
        with suppress(BrokenPipeError):  # the run is gone, and the sweep goes on all the same
            os.write(voice, line)

    try:
        work(sys.stdin.buffer, tell)
    except KeyboardInterrupt:
        sys.exit(_EXIT_INTERRUPTED)
    except HarnessError as error:
        sys.exit(f"error: {error.message}")


if __name__ == "__main__":
    main()
