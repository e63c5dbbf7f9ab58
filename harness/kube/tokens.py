"""A bearer token in a file that somebody else renews: kubelet does, at 80 % of its life.

Called by the client, before each request, for a kubeconfig that names a `tokenFile`.
"""

from __future__ import annotations

import threading
from pathlib import Path

import yaml

from harness.errors import ConfigError


class TokenFile:
    """The token that a file holds now. Threads may share it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        self._token = ""

    def token(self) -> str:
        """Return the token, read again when the file has changed.

        Raises:
            ConfigError: The file could never be read.
        """
        with self._lock:
            try:
                # kubelet swaps a link to the folder, so the inode changes and the time may not.
                stat = self._path.stat()
                seen = (stat.st_ino, stat.st_mtime_ns)
                if seen != self._seen:
                    self._token = self._path.read_text().strip()
                    self._seen = seen
            except OSError as error:
                if not self._token:
                    msg = f"{self._path}: {error.strerror}"
                    raise ConfigError(msg, hint="give a file that holds a token") from error
            return self._token


def token_file_of(kubeconfig: Path) -> TokenFile | None:
    """Return the token file that a kubeconfig's current context names, or None.

    The kubeconfig was read by the SDK before, so its shape is known to be right.
    """
    value = yaml.safe_load(kubeconfig.read_bytes())
    contexts = {one["name"]: one["context"] for one in value["contexts"]}
    users = {one["name"]: one["user"] or {} for one in value["users"]}
    user = users[contexts[value["current-context"]]["user"]]
    # As in kubectl: a token that is written out counts for less than the file.
    name = user.get("tokenFile")
    return TokenFile(kubeconfig.parent / name) if name else None
