"""The wait for the end of a process, on real ones."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from harness.core.exits import await_exit


class _Watched(subprocess.Popen[bytes]):
    """A process that remembers whether it was waited for by looking again and again."""

    polled = False

    def wait(self, timeout: float | None = None) -> int:
        self.polled = self.polled or timeout is not None
        return super().wait(timeout)


@pytest.fixture
def process() -> Iterator[_Watched]:
    """A process that ends when its standard input is closed."""
    started = _Watched([sys.executable, "-Ic", "input()"], stdin=subprocess.PIPE)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def _let_end(process: _Watched) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()


def test_the_end_of_a_process_ends_the_wait_without_polling(process: _Watched) -> None:
    _let_end(process)

    assert await_exit(process, 30.0)
    assert process.returncode == 0
    assert not process.polled


def test_a_process_that_goes_on_is_said_to_when_the_time_is_up(process: _Watched) -> None:
    assert not await_exit(process, 0.05)
    assert process.poll() is None


def test_a_process_that_ended_before_is_not_waited_for(process: _Watched) -> None:
    _let_end(process)
    process.wait()

    assert await_exit(process, 0.0)


def test_two_threads_that_wait_for_one_process_both_see_its_end(process: _Watched) -> None:
    seen: list[bool] = []
    threads = [
        threading.Thread(target=lambda: seen.append(await_exit(process, 30.0))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()

    _let_end(process)

    for thread in threads:
        thread.join()
    assert seen == [True, True]
