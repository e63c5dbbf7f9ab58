"""The agent's only line to the API server, which can be cut.

It owns a TCP relay on loopback: bytes go both ways and TLS stays end to end. Revoking rights leaves
an open watch alive, and a create that waits in a webhook is committed all the same; cutting the
connection ends the one and cancels the other. It refuses to know who speaks or what is said.
`bench` starts one an attempt and cuts it at freeze.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from harness.agents.connection import Pair
from harness.errors import ClusterError, ConfigError

#: Seconds that the relay's own thread may take over one call; a cut of 1,000 takes 50 ms.
_CALL_TIMEOUT_S = 10.0

#: Connections open at once; kubectl needs two. Each takes two descriptors of the harness, which has
#: 1,024 on most machines, and must not run out of them because an agent opens too many.
CONNECTIONS_LIMIT = 128

#: Bytes that an agent may send in one attempt. The audit log keeps all of it, twice where it was
#: stored, and is read when the attempt is collected: without a bound an agent could fill the disk,
#: and have no grade instead of a bad one. A call of kubectl sends 5 kB, so these are 50,000.
SENT_LIMIT_BYTES = 256 * 1024 * 1024

#: Schemes with the port that a URL leaves out.
_DEFAULT_PORTS = {"https": 443, "http": 80}

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What went through: connections accepted, bytes from the agent, bytes to it."""

    connections: int
    sent_bytes: int
    received_bytes: int


def endpoint(server: str) -> tuple[str, int]:
    """Return host and port of an API server's URL. Pure.

    Raises:
        ConfigError: It is no http or https URL with a host.
    """
    url = urlsplit(server)
    if url.scheme not in _DEFAULT_PORTS or not url.hostname:
        msg = f"API server {server!r}: expected https://HOST:PORT"
        raise ConfigError(msg, hint="check the server in the kubeconfig")
    return url.hostname, url.port or _DEFAULT_PORTS[url.scheme]


async def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await loop.shutdown_default_executor()


class Relay:
    """A TCP relay on 127.0.0.1 to one host and port. A context manager: leaving cuts it."""

    def __init__(self, host: str, port: int, *, sent_limit_bytes: int = SENT_LIMIT_BYTES) -> None:
        """Prepare it; nothing listens before `with`.

        Args:
            host: The API server's.
            port: The API server's.
            sent_limit_bytes: What the agent may send; with more the line is cut for good.
        """
        self.target = (host, port)
        self._sent_limit_bytes = sent_limit_bytes
        self._port: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._listener: asyncio.Server | None = None
        self._pairs: set[Pair] = set()
        self._empty = asyncio.Event()
        self._closing = False
        self._cut_count: int | None = None
        self._connections = self._sent_bytes = self._received_bytes = 0

    @property
    def port(self) -> int:
        """The port it listens on, also after the cut."""
        if self._port is None:
            msg = "relay is not listening"
            raise ClusterError(msg, hint="enter its context first")
        return self._port

    @property
    def url(self) -> str:
        """The server URL for a kubeconfig."""
        return f"https://127.0.0.1:{self.port}"

    @property
    def traffic(self) -> Traffic:
        """What went through so far."""
        return Traffic(
            connections=self._connections,
            sent_bytes=self._sent_bytes,
            received_bytes=self._received_bytes,
        )

    def open_count(self) -> int:
        """Return how many connections are open."""
        return len(self._pairs)

    def cut(self) -> int:
        """Close the listener and every connection at once; tell how many were open. Idempotent.

        Raises:
            ClusterError: The relay's thread did not answer.
        """
        if self._cut_count is None:
            self._cut_count = self._call(self._cut()) if self._loop else 0
        return self._cut_count

    def count(self, size_bytes: int, *, from_agent: bool) -> None:
        """Count bytes, and cut the line when they are too many; called by a connection."""
        if from_agent:
            self._sent_bytes += size_bytes
            if self._sent_bytes > self._sent_limit_bytes and not self._closing:
                _log.warning("the agent sent %d bytes, and its line is cut", self._sent_bytes)
                self._end_all()
        else:
            self._received_bytes += size_bytes

    def admit(self, pair: Pair) -> bool:
        """Take in a connection, or tell that it must end; called by it."""
        self._connections += 1
        if self._closing or len(self._pairs) >= CONNECTIONS_LIMIT:
            return False
        self._pairs.add(pair)
        return True

    def discard(self, pair: Pair) -> None:
        """Let a connection go; called by it."""
        self._pairs.discard(pair)
        if not self._pairs:
            self._empty.set()

    async def _listen(self) -> int:
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(lambda: Pair(self).agent, "127.0.0.1", 0)
        port: int = self._listener.sockets[0].getsockname()[1]
        return port

    async def _cut(self) -> int:
        found = self._end_all()
        while self._pairs:
            self._empty.clear()
            await self._empty.wait()
        return found

    def _end_all(self) -> int:
        # A connection that was accepted a moment ago is not admitted any more.
        self._closing = True
        if self._listener:
            self._listener.close()
        found = tuple(self._pairs)
        for pair in found:
            pair.abort()
        return len(found)

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:  # pragma: no cover - callers look first
            raise AssertionError
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(_CALL_TIMEOUT_S)
        except TimeoutError as error:
            future.cancel()
            msg = f"relay on port {self._port} did not answer within {_CALL_TIMEOUT_S:g} s"
            raise ClusterError(msg, hint="start the attempt again") from error

    def __enter__(self) -> Self:
        loop = asyncio.new_event_loop()
        self._loop = loop
        self._thread = threading.Thread(target=loop.run_forever, name="relay", daemon=True)
        self._thread.start()
        try:
            self._port = self._call(self._listen())
        except BaseException:
            self._stop()
            raise
        return self

    def _stop(self) -> None:
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is None or thread is None:
            return
        with contextlib.suppress(RuntimeError):  # the loop ended by itself
            loop.call_soon_threadsafe(loop.stop)
        thread.join(_CALL_TIMEOUT_S)
        if not thread.is_alive():
            loop.run_until_complete(_end_tasks(loop))
            loop.close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.cut()
        finally:
            self._stop()
