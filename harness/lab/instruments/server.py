"""The instruments over HTTP: calls in, answers out, the journal for the harness.

A thin loop round `Rack`: one event loop, so no lock. Answers go to whoever listens when they come
and are not kept for later: nobody can ask an instrument about a past request. Started by the
harness, met by the controller.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import ConfigError
from harness.lab.configuration import check_keys
from harness.lab.instruments.journal import Journal
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.slot import Call, Entry, InstrumentSetup
from harness.lab.serving import HEALTH, serve


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentsConfig:
    """What the process is told.

    Attributes:
        host: IPv4 address to bind.
        port: Port there; 0 lets the machine choose.
        journal_path: File of the journal; what it holds is replayed.
        controller_token: Bearer token for calls and answers.
        harness_token: Bearer token for the journal and the state.
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
        )
    except KeyError as error:
        msg = f"instruments: an instrument has no key {error}"
        raise ConfigError(msg, hint="give each instrument its name and type") from error


class Desk:
    """The rack, its journal and its listeners, on one event loop."""

    def __init__(self, rack: Rack, journal: Journal, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self.rack = rack
        self.journal = journal
        self._clock = clock
        self._listeners: set[asyncio.Queue[Entry]] = set()
        self._changed = asyncio.Event()
        journal.record(rack.replay(journal.entries, clock.now()))

    def submit(self, name: str, call: Call) -> tuple[int, str]:
        """Hand a call to an instrument; return HTTP status and message."""
        reply = self.rack.submit(name, call, self._clock.now())
        self.journal.record(reply.entries)
        self._changed.set()
        return reply.code, reply.message

    async def run(self) -> None:
        """End calls when their time has come, and tell whoever listens. Never returns."""
        while True:
            for entry in self.rack.advance(self._clock.now()):
                self.journal.record((entry,))
                if entry["event"] == "finished":
                    for listener in self._listeners:
                        listener.put_nowait(_answer(entry))
            self._changed.clear()
            next_at = self.rack.next_at
            left_s = (next_at - self._clock.now()).total_seconds() if next_at else None
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(
                    self._changed.wait(), None if left_s is None else max(0.0, left_s)
                )

    async def answers(self) -> AsyncIterator[bytes]:
        """Yield a first line that says the subscription holds, then each answer from now on."""
        queue: asyncio.Queue[Entry] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield b'{"subscribed":true}\n'
            while True:
                yield json.dumps(await queue.get()).encode() + b"\n"
        finally:
            self._listeners.discard(queue)

    def stop(self) -> None:
        """Give up what has not ended, and put that on record."""
        self.journal.record(self.rack.stop(self._clock.now()))


def _answer(entry: Entry) -> Entry:
    outcome = "failed" if "error" in entry else "succeeded"
    names = ("requestId", "instrument", "at", "outputs", "error")
    return {"outcome": outcome, **{name: entry[name] for name in names if name in entry}}


Endpoint = Callable[[Request], Awaitable[Response]]


def _guarded(token: str, answer: Endpoint) -> Endpoint:
    """Return an endpoint that answers only to who holds the token."""

    async def guarded(request: Request) -> Response:
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            return _refused(401, "another token is needed")
        return await answer(request)

    return guarded


def build_app(config: InstrumentsConfig) -> Starlette:
    """Return the application."""
    desk = Desk(Rack(config.setups), Journal(config.journal_path))

    async def submit(request: Request) -> Response:
        try:
            call = _call(await request.json())
        except ValueError as error:
            return _refused(400, str(error))
        code, message = desk.submit(request.path_params["name"], call)
        return JSONResponse({"message": message}, status_code=code)

    async def answers(_: Request) -> Response:
        return StreamingResponse(desk.answers(), media_type="application/x-ndjson")

    async def journal(_: Request) -> Response:
        return JSONResponse({"entries": list(desk.journal.entries)})

    async def state(_: Request) -> Response:
        return JSONResponse({"idle": desk.rack.idle})

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        running = asyncio.create_task(desk.run())
        yield
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        desk.stop()

    mine, theirs = config.controller_token, config.harness_token
    return Starlette(
        routes=[
            Route("/v1/instruments/{name}/requests", _guarded(mine, submit), methods=["POST"]),
            Route("/v1/answers", _guarded(mine, answers)),
            Route("/v1/journal", _guarded(theirs, journal)),
            Route("/v1/state", _guarded(theirs, state)),
            HEALTH,
        ],
        lifespan=lifespan,
    )


def _refused(code: int, message: str) -> Response:
    return JSONResponse({"message": message}, status_code=code)


def _call(body: Any) -> Call:
    """Return the call in a request's body.

    Raises:
        ValueError: A key is missing or of another type.
    """
    expected = {"requestId": str, "capability": str, "inputs": dict, "fencingToken": int}
    given = body if isinstance(body, dict) else {}
    wrong = [key for key, kind in expected.items() if not isinstance(given.get(key), kind)]
    if wrong:
        msg = f"{', '.join(wrong)} missing or of another type"
        raise ValueError(msg)
    return Call(
        request_id=given["requestId"],
        capability=given["capability"],
        inputs=given["inputs"],
        fencing_token=given["fencingToken"],
    )


def run_instruments(
    config: InstrumentsConfig, say: Callable[[str, Mapping[str, Any]], None]
) -> None:
    """Serve until SIGTERM."""
    serve(
        build_app(config),
        host=config.host,
        port=config.port,
        on_ready=lambda port: say("ready", {"port": port}),
    )
