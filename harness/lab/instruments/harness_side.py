"""What the harness alone may do to the instruments: read the truth, decide fates, make faults.

Endpoints over a desk; none of them is known to the controller or to an agent. The server puts the
harness's token before each.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from harness.lab.instruments.bodies import fates_in, fields
from harness.lab.instruments.desk import Desk
from harness.lab.instruments.endpoints import Act, Endpoint, acting, plain
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.world import world_of


def reading(desk: Desk) -> dict[str, Endpoint]:
    """Return path to what is read with GET."""

    async def journal(_: Request) -> Response:
        return JSONResponse({"entries": list(desk.journal.entries)})

    async def state(_: Request) -> Response:
        return JSONResponse({"idle": desk.rack.idle})

    async def world(_: Request) -> Response:
        return JSONResponse(world_of(desk.rack.world))

    return {"/v1/journal": journal, "/v1/state": state, "/v1/world": world}


def doing(desk: Desk) -> dict[str, Endpoint]:
    """Return path to what is done with POST."""
    return {
        "/v1/fates": acting(desk, _tell),
        "/v1/release": acting(desk, _release),
        "/v1/instruments/{name}/restart": acting(desk, _restart),
        "/v1/instruments/{name}/drop-link": plain(desk, Rack.drop_link),
        "/v1/instruments/{name}/hold": plain(desk, Rack.hold),
        "/v1/instruments/{name}/let-go": plain(desk, Rack.let_go),
    }


def _tell(body: Any, _: str) -> Act:
    noise_key, fates = fates_in(body)
    return lambda rack, now: rack.tell(noise_key, fates, now)


def _release(body: Any, _: str) -> Act:
    request_id = fields(body, {"requestId": str})["requestId"]
    return lambda rack, now: rack.release(request_id, now)


def _restart(body: Any, name: str) -> Act:
    memory = fields(body, {"memory": bool})["memory"]
    return lambda rack, now: rack.restart(name, now, memory=memory)
