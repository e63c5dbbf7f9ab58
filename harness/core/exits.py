"""The wait for the end of a process, which wakes the moment it comes.

Refuses to start or end anything. Called by `child`.
"""

from __future__ import annotations

import os
import select
import subprocess
from contextlib import suppress


def await_exit(process: subprocess.Popen[bytes], timeout_s: float) -> bool:
    """Wait for the end of a process; tell whether it came within `timeout_s` seconds.

    `Popen.wait` with a time-out sleeps up to 50 ms between two looks, and every command of ours
    would pay half of that: 3 % of a small stack's init, plan, apply and destroy.
    """
    if process.poll() is not None:
        return True
    with suppress(OSError):  # no such call on this kernel, or another thread was quicker
        descriptor = os.pidfd_open(process.pid)
        try:
            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            ended = bool(poller.poll(timeout_s * 1000))
        finally:
            os.close(descriptor)
        if ended:
            process.wait()  # `poll` may say None while another thread is asking
        return ended
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return False
    return True
