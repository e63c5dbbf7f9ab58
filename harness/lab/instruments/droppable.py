"""HTTP/1.1 with one more thing that an endpoint can do: break the connection, and answer nothing.

Knows nothing of instruments. The server uses it for a link that drops after a call was accepted.
"""

from __future__ import annotations

import asyncio
from typing import cast

from starlette.requests import Request
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol


class DroppableProtocol(H11Protocol):
    """Hands each request the means to break its own connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, with the transport's `abort` in every request's state."""
        opened = cast("asyncio.Transport", transport)
        super().connection_made(opened)
        self.app_state = {**self.app_state, "break_link": opened.abort}


async def drop(request: Request) -> Response:
    """Break the connection of a request whose body was read; what is returned reaches nobody."""
    request.state.break_link()
    await request.receive()  # comes back when the connection is known to be gone
    return Response()
