"""The instruments over HTTP: calls in, answers out, the truth and the faults for the harness.

A thin skin round `Desk`. Answers go to whoever listens when they come and are not kept for later:
nobody can ask an instrument about a past request. Started by the harness, met by the controller.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from harness.errors import ConfigError
from harness.lab.configuration import check_keys
from harness.lab.instruments.bodies import call_in, fields
from harness.lab.instruments.desk import Desk
from harness.lab.instruments.droppable import DroppableProtocol
from harness.lab.instruments.endpoints import Act, Endpoint, acting, refused
from harness.lab.instruments.harness_side import doing, reading
from harness.lab.instruments.journal import Journal
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.slot import InstrumentSetup
from harness.lab.serving import HEALTH, serve


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentsConfig:
    """What the process is told.

    Attributes:
        host: IPv4 address to bind.
        port: Port there; 0 lets the machine choose.
        journal_path: File of the journal; what it holds is replayed.
        controller_token: Bearer token for calls and answers.
        harness_token: Bearer token for everything else.
        setups: The instruments.
    """

    host: str
    port: int
    journal_path: Path
    controller_token: str = field(repr=False)
    harness_token: str = field(repr=False)
    setups: tuple[InstrumentSetup, ...]

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Return the configuration in a JSON object.

        Raises:
            ConfigError: A key is missing or unknown, or an instrument has no name or type.
        """
        expected = (frozenset(cls.__slots__) - {"setups"}) | {"instruments"}
        check_keys("instruments", value, expected)
        return cls(
            host=str(value["host"]),
            port=int(value["port"]),
            journal_path=Path(value["journal_path"]),
            controller_token=str(value["controller_token"]),
            harness_token=str(value["harness_token"]),
            setups=tuple(_setup(one) for one in value["instruments"]),
        )


def _setup(value: Mapping[str, Any]) -> InstrumentSetup:
    try:
        return InstrumentSetup(
            name=str(value["name"]),
            type=str(value["type"]),
            latency_s=float(value.get("latencySeconds", 0.0)),
            refuses=bool(value.get("refuses", False)),
            reservoir_g=float(value.get("reservoirGrams", 0.0)),
            noise_g=float(value.get("noiseGrams", 0.0)),
        )
    except KeyError as error:
        msg = f"instruments: an instrument has no key {error}"
        raise ConfigError(msg, hint="give each instrument its name and type") from error


def _guarded(token: str, answer: Endpoint) -> Endpoint:
    """Return an endpoint that answers only to who holds the token."""

    async def guarded(request: Request) -> Response:
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            return refused(401, "another token is needed")
        return await answer(request)

    return guarded


def _submit(body: Any, name: str) -> Act:
    call = call_in(body)
    return lambda rack, now: rack.submit(name, call, now)


def _fence(body: Any, name: str) -> Act:
    token = fields(body, {"fencingToken": int})["fencingToken"]
    return lambda rack, now: rack.fence(name, token, now)


def build_app(config: InstrumentsConfig) -> Starlette:
    """Return the application."""
    desk = Desk(Rack(config.setups), Journal(config.journal_path))

    async def answers(_: Request) -> Response:
        return StreamingResponse(desk.answers(), media_type="application/x-ndjson")

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        running = asyncio.create_task(desk.run())
        yield
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        desk.stop()

    def post(path: str, token: str, answer: Endpoint) -> Route:
        return Route(path, _guarded(token, answer), methods=["POST"])

    mine, theirs = config.controller_token, config.harness_token
    return Starlette(
        routes=[
            post("/v1/instruments/{name}/requests", mine, acting(desk, _submit)),
            post("/v1/instruments/{name}/fence", mine, acting(desk, _fence)),
            Route("/v1/answers", _guarded(mine, answers)),
            *(Route(path, _guarded(theirs, one)) for path, one in reading(desk).items()),
            *(post(path, theirs, one) for path, one in doing(desk).items()),
            HEALTH,
        ],
        lifespan=lifespan,
    )


def run_instruments(
    config: InstrumentsConfig, say: Callable[[str, Mapping[str, Any]], None]
) -> None:
    """Serve until SIGTERM."""
    serve(
        build_app(config),
        host=config.host,
        port=config.port,
        protocol=DroppableProtocol,
        on_ready=lambda port: say("ready", {"port": port}),
    )
