"""One connection through the relay: the agent's side, the server's side, and the bytes between.

It owns the pumping both ways, with back-pressure and half-closed ends; it refuses to know what is
said. The relay makes one for each connection that it accepts.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

#: Seconds to reach the API server for one connection; on loopback it takes under 1 ms.
_CONNECT_TIMEOUT_S = 10.0


class Owner(Protocol):
    """Who accepts connections, and is told of what goes through them."""

    @property
    def target(self) -> tuple[str, int]:
        """Host and port to connect to."""
        ...

    def count(self, size_bytes: int, *, from_agent: bool) -> None:
        """Count bytes."""
        ...

    def admit(self, pair: Pair) -> bool:
        """Take in a connection that was accepted, or tell that it must end."""
        ...

    def discard(self, pair: Pair) -> None:
        """Let a connection go whose both sides are closed."""
        ...


class Side(asyncio.Protocol):
    """One side of a connection; what it receives is written to the other."""

    def __init__(self, pair: Pair, *, from_agent: bool) -> None:
        self.pair, self._from_agent = pair, from_agent
        self.transport: asyncio.Transport | None = None
        self.ended = False

    @property
    def _other(self) -> asyncio.Transport | None:
        return self._other_side.transport

    @property
    def _other_side(self) -> Side:
        return self.pair.server if self._from_agent else self.pair.agent

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        if not isinstance(transport, asyncio.Transport):  # pragma: no cover - TCP gives no other
            raise TypeError
        self.transport = transport
        self.pair.made(self)

    def data_received(self, data: bytes) -> None:
        """Hand bytes on."""
        self.pair.relay.count(len(data), from_agent=self._from_agent)
        if other := self._other:
            other.write(data)

    def eof_received(self) -> bool:
        """Hand the end on; the other direction stays open until it ends too."""
        self.ended = True
        other = self._other
        if other and other.can_write_eof() and not other.is_closing():
            other.write_eof()
        if self._other_side.ended and other:
            other.close()
        return not self._other_side.ended

    def pause_writing(self) -> None:
        """Read no more from the other side while this one is full."""
        if other := self._other:
            other.pause_reading()

    def resume_writing(self) -> None:
        """Read again from the other side."""
        if (other := self._other) and not other.is_closing():
            other.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Close the other side too, once what it still has to write is written."""
        if other := self._other:
            other.close()
        self.pair.lost(self)


class Pair:
    """The agent's side, the server's side, and the connecting of the one to the other."""

    def __init__(self, relay: Owner) -> None:
        self.relay = relay
        self.agent = Side(self, from_agent=True)
        self.server = Side(self, from_agent=False)
        self.connecting: asyncio.Task[None] | None = None
        self._open: set[Side] = set()

    def made(self, side: Side) -> None:
        """Note an open side; the agent's starts the connecting to the server."""
        self._open.add(side)
        if side is self.agent and side.transport:
            side.transport.pause_reading()
            if not self.relay.admit(self):
                self.abort()
                return
            self.connecting = asyncio.get_running_loop().create_task(self._connect())

    async def _connect(self) -> None:
        loop, transport = asyncio.get_running_loop(), self.agent.transport
        try:
            async with asyncio.timeout(_CONNECT_TIMEOUT_S):
                await loop.create_connection(lambda: self.server, *self.relay.target)
        except OSError:  # TimeoutError is one
            self.abort()
            return
        if transport and not transport.is_closing():
            transport.resume_reading()
        else:  # the agent went while we were connecting
            self.abort()

    def lost(self, side: Side) -> None:
        """Note a closed side; with the last one the connection is gone."""
        self._open.discard(side)
        if side is self.agent and self.connecting:
            self.connecting.cancel()
        if not self._open:
            self.relay.discard(self)

    def abort(self) -> None:
        """Close both sides at once, unsent bytes dropped."""
        if self.connecting:
            self.connecting.cancel()
        for side in (self.agent, self.server):
            if side.transport:
                side.transport.abort()
