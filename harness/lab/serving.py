"""An ASGI app on a port, until SIGTERM; says when it is ready, and to anybody that it lives.

The port is bound before anything else, so that port 0 can be told to the parent.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

#: Seconds that open answers get at the end; a stream of answers has no end of its own.
_GRACE_S = 1

#: Seconds that an idle connection stays open: longer than any client keeps one for later, so that
#: it is never closed just as the next call goes out on it. The API server keeps its connections to
#: a webhook for 90 s and does not repeat a call that met a closed one: "failed calling webhook:
#: EOF". Source: Go, net/http DefaultTransport.IdleConnTimeout.
_KEEP_ALIVE_S = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Files of a serving certificate and its key."""

    cert_path: Path
    key_path: Path


async def _healthy(_: Request) -> JSONResponse:
    return JSONResponse({"healthy": True})


#: Answered without a token: whoever asks is told only that the process serves.
HEALTH = Route("/healthz", _healthy)


class _Server(uvicorn.Server):
    """Tells when it has begun to serve."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()


def serve(
    app: Any,
    *,
    host: str,
    port: int,
    on_ready: Callable[[int], None],
    certificate: Certificate | None = None,
    protocol: type[asyncio.Protocol] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT.

    Args:
        app: The ASGI application.
        host: IPv4 address to bind.
        port: Port; 0 lets the machine choose.
        on_ready: Called once with the port, when requests are answered.
        certificate: Makes it HTTPS.
        protocol: What speaks HTTP on each connection; None leaves it to the server.
    """
    # uvicorn raises the signal again when it has ended; by then there is nothing left to do.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    # asyncio turns Nagle's algorithm off only where the protocol is named; with it on, every
    # answer over TLS waits 40 ms for an acknowledgement.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        bound = int(listener.getsockname()[1])
        config = uvicorn.Config(
            app,
            http=protocol or "auto",
            log_level="warning",
            access_log=False,
            lifespan="on" if certificate is None else "off",
            timeout_graceful_shutdown=_GRACE_S,
            timeout_keep_alive=_KEEP_ALIVE_S,
            ssl_certfile=certificate.cert_path if certificate else None,
            ssl_keyfile=certificate.key_path if certificate else None,
        )
        server = _Server(config, lambda: on_ready(bound))
        asyncio.run(server.serve(sockets=[listener]))
