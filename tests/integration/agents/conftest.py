"""Workspaces with a recording kubectl, and a TLS server that stands for the API server."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from harness.agents.sandbox import Identity, Workspace, build_workspace

TOKEN = "token-of-the-agent"

#: Notes its arguments, input and environment beside itself, and answers by its first argument.
RECORDING_KUBECTL = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
printf '%s\\n' "$*" >> "$here/calls"
case "$1" in
  create) cat > "$here/stdin"; echo created ;;
  explain) head -c 200000 /dev/zero | tr '\\0' x ;;
  version) env | sort > "$here/environment"; echo v1 ;;
  wait) sleep 600 ;;
  delete) echo 'Error: forbidden' >&2; exit 1 ;;
  *) echo listed ;;
esac
"""


class StubApiServer:
    """A TLS server: `/healthz` is answered, `/slow` only when released."""

    def __init__(self, name: str) -> None:
        """Take the name in the certificate."""
        self.arrived = threading.Event()
        self.dropped = threading.Event()
        self.tokens: list[str] = []
        authority = trustme.CA()
        self.ca_pem = authority.cert_pem.bytes()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(name).configure_cert(context)
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                stub.tokens.append(self.headers.get("Authorization", ""))
                if self.path == "/slow":
                    stub.arrived.set()
                    if not self._peer_stays():
                        stub.dropped.set()
                        self.close_connection = True
                        return
                body = b"ok"
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def _peer_stays(self) -> bool:
                try:
                    return bool(self.connection.recv(1))
                except OSError:
                    return False

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = False

            def get_request(self) -> tuple[ssl.SSLSocket, tuple[str, int]]:
                # The handshake is made by the handler's thread, at its first read.
                connection, address = super().get_request()
                wrapped = context.wrap_socket(
                    connection, server_side=True, do_handshake_on_connect=False
                )
                return wrapped, address

            def handle_error(self, request: object, client_address: object) -> None:
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port: int = self.server.server_address[1]


@contextmanager
def served(stub: StubApiServer) -> Iterator[StubApiServer]:
    """Serve until the end of the block."""
    thread = threading.Thread(target=stub.server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield stub
    finally:
        stub.server.shutdown()
        stub.server.server_close()
        thread.join()


@pytest.fixture
def api_server() -> Iterator[StubApiServer]:
    with served(StubApiServer("127.0.0.1")) as stub:
        yield stub


@pytest.fixture
def named_api_server() -> Iterator[StubApiServer]:
    with served(StubApiServer("api.example")) as stub:
        yield stub


@pytest.fixture
def kubectl_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "kubectl"
    folder.mkdir()
    (folder / "kubectl").write_text(RECORDING_KUBECTL)
    (folder / "kubectl").chmod(0o755)
    return folder


@pytest.fixture
def workspace(tmp_path: Path, kubectl_dir: Path) -> Iterator[Workspace]:
    identity = Identity(server="https://127.0.0.1:1", ca_pem=b"", token=TOKEN, namespace="lab-1")
    with build_workspace(
        identity,
        kubectl=kubectl_dir / "kubectl",
        agent_env=["AGENT_KEY"],
        ambient={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "AGENT_KEY": "key-of-the-user"},
        parent_dir=tmp_path,
    ) as built:
        yield built


@pytest.fixture
def agent_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    folder.mkdir()
    return folder
