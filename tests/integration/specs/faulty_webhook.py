"""A webhook that can be wrong in every way, changed while it runs.

It answers admission.k8s.io/v1 AdmissionReview over HTTPS on loopback: an object whose data says
`wanted: no` is refused, any other passes. What each call meets is drawn anew, so that a share of
them can meet a fault. Connections are kept, as any webhook keeps them, until something changes.
"""

from __future__ import annotations

import http.client
import json
import random
import socket
import socketserver
import ssl
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from itertools import cycle
from pathlib import Path
from typing import Any, BinaryIO

import trustme

from harness.cluster.embedded.ports import free_ports

#: Path on which it speaks for a stranger: it refuses what is not wanted whatever else is drawn.
STRANGERS_PATH = "/stranger"

#: Seconds that a slow answer takes, and that a call without an answer is held at most: more than
#: the 1 s after which the API server gives up.
_SLOW_S = 1.2
_HELD_S = 30.0

#: Path to the text of its refusals.
_REFUSALS = {"/validate": "not wanted", STRANGERS_PATH: "not wanted by a stranger"}


class Reply(StrEnum):
    """What a call meets."""

    DENIES = "denies what is not wanted"
    ALLOWS = "allows everything"
    WARNS = "allows with a warning"
    DENIES_ALL = "denies everything"
    DENIES_OTHERWISE = "denies for another reason"
    HANGS = "never answers"
    SLOW = "answers too late"
    ERROR = "answers 500"
    NOT_FOUND = "answers 404"
    NOT_JSON = "answers what is no JSON"
    NO_REVIEW = "answers JSON that is no review"
    WRONG_UID = "answers another request's uid"
    CLOSES = "closes the connection at once"
    RESETS = "resets the connection at once"
    PLAIN = "speaks plain HTTP"
    UNTRUSTED = "has a certificate of an unknown authority"
    EXPIRED = "has an expired certificate"
    OTHER_NAME = "has a certificate for another name"


Draw = Callable[[], Reply]


def always(reply: Reply) -> Draw:
    """Return a draw of one thing."""
    return lambda: reply


def at_random(share: float, chance: random.Random) -> Draw:
    """Return a draw that lets through this share of the calls, each by itself."""
    return lambda: Reply.ALLOWS if chance.random() < share else Reply.DENIES


def in_turn(*replies: Reply) -> Draw:
    """Return a draw that goes through the replies again and again."""
    turns = cycle(replies)
    lock = threading.Lock()

    def draw() -> Reply:
        with lock:
            return next(turns)

    return draw


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, port: int, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        super().__init__(("127.0.0.1", port), socketserver.BaseRequestHandler)

    def finish_request(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - theirs
        with suppress(OSError):  # the API server hangs up on what it does not trust
            self._serve(request)


class FaultyWebhook:
    """Serves until it is ended; `meets` says what calls meet from now on."""

    def __init__(self, folder: Path) -> None:
        self.port = free_ports(1)[0]
        authority = trustme.CA()
        self.ca_pem = authority.cert_pem.bytes()
        long_ago = datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 2, tzinfo=UTC)
        self._trusted = _context(authority.issue_cert("127.0.0.1"), folder)
        self._others = {
            Reply.UNTRUSTED: _context(trustme.CA().issue_cert("127.0.0.1"), folder),
            Reply.OTHER_NAME: _context(authority.issue_cert("elsewhere.example"), folder),
            Reply.EXPIRED: _context(
                authority.issue_cert("127.0.0.1", not_before=long_ago[0], not_after=long_ago[1]),
                folder,
            ),
        }
        self._draw: Draw = always(Reply.DENIES)
        self._lock = threading.Lock()
        self._kept: set[socket.socket] = set()
        self._let_go = threading.Event()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it is asked."""
        return f"https://127.0.0.1:{self.port}/validate"

    def meets(self, draw: Draw) -> None:
        """Let calls meet what is drawn; who still waits for an answer is hung up on."""
        self._draw = draw
        self._hang_up()

    def start(self) -> None:
        """Listen. Idempotent."""
        if self._server is None:
            self._server = _Server(self.port, self._serve)
            self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
            self._thread.start()

    def end(self) -> None:
        """Close the port. Idempotent."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._hang_up()
            self._server.server_close()  # joins the calls that are being answered
            self._thread.join()
        self._server = self._thread = None

    def _hang_up(self) -> None:
        self._let_go.set()
        self._let_go = threading.Event()
        with self._lock:
            for kept in self._kept:
                with suppress(OSError):  # it hung up itself
                    # Not the shutdown of TLS, which another thread is reading from.
                    socket.socket.shutdown(kept, socket.SHUT_RDWR)

    def _serve(self, connection: socket.socket) -> None:
        reply, let_go = self._draw(), self._let_go
        if reply is Reply.RESETS:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
            return
        if reply is Reply.CLOSES:
            connection.recv(1 << 16)  # what is left unread would make a reset of it
            return
        if reply is Reply.HANGS:
            let_go.wait(_HELD_S)
            return
        if reply is Reply.PLAIN:
            connection.recv(1)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            return
        context = self._others.get(reply, self._trusted)
        with context.wrap_socket(connection, server_side=True) as secured:
            with self._lock:
                self._kept.add(secured)
            try:
                self._serve_calls(secured, reply, let_go)
            finally:
                with self._lock:
                    self._kept.remove(secured)

    def _serve_calls(
        self, connection: ssl.SSLSocket, reply: Reply, let_go: threading.Event
    ) -> None:
        with connection.makefile("rb") as stream:
            while call := _read(stream):
                if reply is Reply.SLOW:
                    let_go.wait(_SLOW_S)
                status, body = _answer(reply, *call)
                head = f"HTTP/1.1 {status} {http.client.responses[status]}\r\n"
                head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                connection.sendall(head.encode() + body)
                reply = self._draw()


def _context(issued: trustme.LeafCert, folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with issued.private_key_and_cert_chain_pem.tempfile(dir=str(folder)) as path:
        context.load_cert_chain(path)
    return context


def _read(stream: BinaryIO) -> tuple[str, dict[str, Any]] | None:
    """Return path and review of the next call; None where it ends, or was cut off."""
    begun = stream.readline()
    length = int(http.client.parse_headers(stream).get("Content-Length", "0")) if begun else 0
    body = stream.read(length)
    if not length or len(body) < length:
        return None
    return begun.decode().split()[1].partition("?")[0], json.loads(body)


def _answer(reply: Reply, path: str, review: dict[str, Any]) -> tuple[int, bytes]:
    if path != STRANGERS_PATH:
        broken: dict[Reply, tuple[int, bytes]] = {
            Reply.ERROR: (500, b"out of order"),
            Reply.NOT_FOUND: (404, b"nobody of that name"),
            Reply.NOT_JSON: (200, b"<html>it works</html>"),
            Reply.NO_REVIEW: (200, b'{"healthy": true}'),
        }
        if reply in broken:
            return broken[reply]
    return 200, json.dumps(_review(reply, path, review["request"])).encode()


def _review(reply: Reply, path: str, request: dict[str, Any]) -> dict[str, Any]:
    wanted = request["object"].get("data", {}).get("wanted") != "no"
    message = _REFUSALS[path]
    allowed = wanted
    response: dict[str, Any] = {"uid": request["uid"]}
    if path != STRANGERS_PATH:
        if reply is Reply.DENIES_ALL:
            allowed = False
        elif reply in (Reply.ALLOWS, Reply.WARNS):
            allowed = True
        elif reply is Reply.DENIES_OTHERWISE:
            message = "the moon is full"
        elif reply is Reply.WRONG_UID:
            response["uid"] = "00000000-0000-0000-0000-000000000000"
        if reply is Reply.WARNS and not wanted:
            response["warnings"] = [message]
    response["allowed"] = allowed
    if not allowed:
        response["status"] = {"code": 403, "message": message}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
