"""A kubeconfig that a process gets when it is time: it loads, asks for the file, and waits there.

The controller manager takes 0.1 to 0.4 s to load, then asks the API server once a second whether it
is healthy, and gives up after ten. Started early with this, it neither polls nor gives up, and goes
on at the moment at which the API server is ready. Called by the start of a control plane.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from harness.core.files import PRIVATE_MODE


class HeldKubeconfig:
    """A named pipe in the place of a kubeconfig; it is read once, by the first who opens it."""

    def __init__(self, kubeconfig: Path) -> None:
        """Make the pipe beside the file, whose content it will have."""
        self._data = kubeconfig.read_bytes()
        self.path = kubeconfig.with_name(f"{kubeconfig.name}.held")
        self.path.unlink(missing_ok=True)
        os.mkfifo(self.path, PRIVATE_MODE)

    def release(self) -> bool:
        """Give the content to who waits for it; tell whether somebody did. Never blocks.

        The pipe is gone then: whoever read all files of the folder would wait at it for ever.
        """
        try:
            pipe = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nobody has opened it yet
                return False
            raise
        try:
            os.write(pipe, self._data)
        finally:
            os.close(pipe)
        self.path.unlink()
        return True
