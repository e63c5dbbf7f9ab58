"""What the harness alone may do to the instruments: read the truth, decide fates, make faults.

Endpoints over a desk; none of them is known to the controller or to an agent. The server puts the
harness's token before each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from harness.lab.instruments.bodies import fates_in, fields
from harness.lab.instruments.desk import Desk
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.reply import Reply
from harness.lab.instruments.world import world_of

Endpoint = Callable[[Request], Awaitable[Response]]


def said(reply: Reply) -> Response:
    """Return a reply over HTTP."""
    return JSONResponse({"message": reply.message}, status_code=reply.code)


def refused(code: int, message: str) -> Response:
    """Return a refusal that is no instrument's."""
    return JSONResponse({"message": message}, status_code=code)


def reading(desk: Desk) -> dict[str, Endpoint]:
    """Return path to what is read with GET."""

    async def journal(_: Request) -> Response:
        return JSONResponse({"entries": list(desk.journal.entries)})

    async def state(_: Request) -> Response:
        return JSONResponse({"idle": desk.rack.idle, "busy": list(desk.rack.busy)})

    async def world(_: Request) -> Response:
        return JSONResponse(world_of(desk.rack.world))

    return {"/v1/journal": journal, "/v1/state": state, "/v1/world": world}


def doing(desk: Desk) -> dict[str, Endpoint]:
    """Return path to what is done with POST."""

    async def fates(request: Request) -> Response:
        try:
            noise_key, told = fates_in(await request.json())
        except ValueError as error:
            return refused(400, str(error))
        return said(desk.do(lambda rack, now: rack.tell(noise_key, told, now)))

    async def release(request: Request) -> Response:
        try:
            request_id = fields(await request.json(), {"requestId": str})["requestId"]
        except ValueError as error:
            return refused(400, str(error))
        return said(desk.do(lambda rack, now: rack.release(request_id, now)))

    async def restart(request: Request) -> Response:
        try:
            memory = fields(await request.json(), {"memory": bool})["memory"]
        except ValueError as error:
            return refused(400, str(error))
        name = request.path_params["name"]
        return said(desk.do(lambda rack, now: rack.restart(name, now, memory=memory)))

    def plain(act: Callable[[Rack, str, datetime], Reply]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            name = request.path_params["name"]
            return said(desk.do(lambda rack, now: act(rack, name, now)))

        return endpoint

    return {
        "/v1/fates": fates,
        "/v1/release": release,
        "/v1/instruments/{name}/restart": restart,
        "/v1/instruments/{name}/drop-link": plain(Rack.drop_link),
        "/v1/instruments/{name}/hold": plain(Rack.hold),
        "/v1/instruments/{name}/let-go": plain(Rack.let_go),
    }
