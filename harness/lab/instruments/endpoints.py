"""From a request over HTTP to something done to the rack, and from its reply to an answer.

Knows no path and no token. The controller's endpoints and the harness's are made with it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from harness.lab.instruments.desk import Desk
from harness.lab.instruments.droppable import drop
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.reply import Reply

Endpoint = Callable[[Request], Awaitable[Response]]

Act = Callable[[Rack, datetime], Reply]


def refused(code: int, message: str) -> Response:
    """Return a refusal that is no instrument's."""
    return JSONResponse({"message": message}, status_code=code)


def acting(desk: Desk, read: Callable[[Any, str], Act]) -> Endpoint:
    """Return an endpoint that does what a body asks for.

    Args:
        desk: Where it is done.
        read: Returns what a body asks for, of the instrument that the path names if it names one;
            raises ValueError for a body that asks for nothing.
    """

    async def endpoint(request: Request) -> Response:
        try:
            act = read(await request.json(), _name(request))
        except ValueError as error:
            return refused(400, str(error))
        reply = desk.do(act)
        return await drop(request) if reply.dropped else _said(reply)

    return endpoint


def plain(desk: Desk, act: Callable[[Rack, str, datetime], Reply]) -> Endpoint:
    """Return an endpoint that does one thing to the instrument that the path names."""

    async def endpoint(request: Request) -> Response:
        return _said(desk.do(lambda rack, now: act(rack, _name(request), now)))

    return endpoint


def _name(request: Request) -> str:
    return str(request.path_params.get("name", ""))


def _said(reply: Reply) -> Response:
    return JSONResponse({"message": reply.message}, status_code=reply.code)
