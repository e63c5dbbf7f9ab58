"""What a Ctrl-C means: it stops the work at once, and never the sweep.

Inside `shielded` the first signal is kept for later, because a half-done sweep leaves things
behind; a second one is meant, and goes through. `noticed` is the same for whoever ends the work of
others in order.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def noticed(say: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Give what tells whether an interrupt was heard; a second one goes through.

    Args:
        say: Told, once, that the interrupt was heard.

    Raises:
        KeyboardInterrupt: At a second interrupt.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # signals go to the main thread alone
        return
    held = False

    def hold(_number: int, _frame: FrameType | None) -> None:
        nonlocal held
        if held:
            raise KeyboardInterrupt
        held = True
        say("interrupted: taking down what is there first; once more to leave it")

    previous: Any = signal.signal(signal.SIGINT, hold)
    try:
        yield lambda: held
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def shielded(say: Callable[[str], None]) -> Iterator[None]:
    """Hold back the first interrupt until the block has ended; let a second one through.

    Args:
        say: Told, once, that the interrupt was heard.

    Raises:
        KeyboardInterrupt: At the end of the block when one was held back, or at a second one.
    """
    with noticed(say) as heard:
        try:
            yield
        finally:
            if heard():  # also when the block ended in an error, which is then the context of this
                raise KeyboardInterrupt


def raise_interrupt(_number: int, _frame: FrameType | None) -> None:
    """Treat a signal as Ctrl-C; for SIGTERM."""
    signal.raise_signal(signal.SIGINT)
