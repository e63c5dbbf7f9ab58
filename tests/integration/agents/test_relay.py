"""The relay against real sockets: TLS end to end, bytes both ways, and the cut."""

from __future__ import annotations

import errno
import http.client
import os
import shutil
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.agents.relay import CONNECTIONS_LIMIT, Relay
from harness.agents.sandbox import Identity, Workspace, build_workspace
from harness.core.process import Finished, run
from harness.core.waiting import wait_until
from harness.errors import ClusterError

if TYPE_CHECKING:
    from tests.integration.agents.conftest import StubApiServer


def _connect(relay: Relay, stub: StubApiServer) -> http.client.HTTPSConnection:
    context = ssl.create_default_context(cadata=stub.ca_pem.decode())
    return http.client.HTTPSConnection("127.0.0.1", relay.port, context=context, timeout=10)


def _kubectl(workspace: Workspace, *args: str) -> Finished:
    return run([str(workspace.kubectl), *args], env=workspace.environment, timeout_s=30)


@pytest.fixture
def echo_port() -> Iterator[int]:
    """Serve one connection at a time: read to the end of the input, then send it all back."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer(connection: socket.socket) -> bool:
            received = b"".join(iter(lambda: connection.recv(65536), b""))
            if received != b"stop":
                connection.sendall(received)
            return received != b"stop"

        def serve() -> None:
            going = True
            while going:
                connection, _ = listener.accept()
                with connection:
                    going = answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        port: int = listener.getsockname()[1]
        yield port
        with socket.create_connection(("127.0.0.1", port)) as last:
            last.sendall(b"stop")
        thread.join()


def test_tls_is_end_to_end_and_traffic_is_counted(api_server: StubApiServer) -> None:
    with Relay("127.0.0.1", api_server.port) as relay:
        connection = _connect(relay, api_server)
        connection.request("GET", "/healthz", headers={"Authorization": "Bearer t"})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()

    assert (answer.status, body, api_server.tokens) == (200, b"ok", ["Bearer t"])
    assert relay.traffic.connections == 1
    assert relay.traffic.sent_bytes > 0
    assert relay.traffic.received_bytes > 0


def test_much_data_passes_whole_and_a_half_closed_end_still_gets_its_answer(echo_port: int) -> None:
    data = os.urandom(4 * 1024 * 1024)

    with Relay("127.0.0.1", echo_port) as relay:
        with socket.create_connection(("127.0.0.1", relay.port), timeout=20) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            received = b"".join(iter(lambda: client.recv(65536), b""))
        wait_until(
            relay.open_count, lambda found: found == 0, what="end of connections", timeout_s=5
        )

    assert received == data
    assert (relay.traffic.sent_bytes, relay.traffic.received_bytes) == (len(data), len(data))


def _sent_back(relay: Relay, data: bytes) -> bytes:
    with (
        suppress(ConnectionError),
        socket.create_connection(("127.0.0.1", relay.port), timeout=20) as client,
    ):
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))
    return b""


def test_an_agent_that_sends_too_much_loses_its_line_for_good(echo_port: int) -> None:
    data = os.urandom(65_536)

    with Relay("127.0.0.1", echo_port, sent_limit_bytes=len(data)) as relay:
        at_the_limit = _sent_back(relay, data)
        beyond = _sent_back(relay, b"x")
        with socket.socket() as again:
            code = again.connect_ex(("127.0.0.1", relay.port))

    assert (at_the_limit, beyond) == (data, b"")
    assert code == errno.ECONNREFUSED


def test_a_cut_drops_what_is_in_flight_at_the_server_and_at_the_agent(
    api_server: StubApiServer,
) -> None:
    with Relay("127.0.0.1", api_server.port) as relay:
        connections = [_connect(relay, api_server) for _ in range(2)]
        for connection, path in zip(connections, ("/slow", "/healthz"), strict=True):
            connection.request("GET", path)
        connections[1].getresponse().read()
        assert api_server.arrived.wait(10)

        count = relay.cut()

        with pytest.raises((ConnectionError, http.client.HTTPException, ssl.SSLError)):
            connections[0].getresponse()
        for connection in connections:
            connection.close()
        assert count == 2
        assert relay.cut() == 2
        assert api_server.dropped.wait(10)


def test_nobody_gets_in_after_a_cut(api_server: StubApiServer) -> None:
    with Relay("127.0.0.1", api_server.port) as relay:
        relay.cut()

        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", relay.port), timeout=5)


def test_a_flood_of_connections_does_not_use_up_the_harness(api_server: StubApiServer) -> None:
    with ExitStack() as stack, Relay("127.0.0.1", api_server.port) as relay:
        for _ in range(CONNECTIONS_LIMIT + 20):
            client = socket.create_connection(("127.0.0.1", relay.port), timeout=10)
            stack.enter_context(client)
        wait_until(
            lambda: relay.traffic.connections,
            lambda found: found == CONNECTIONS_LIMIT + 20,
            what="all connections",
            timeout_s=10,
        )

        count = relay.cut()

    assert count == CONNECTIONS_LIMIT


def test_a_slow_reader_holds_the_server_back_and_gets_every_byte(echo_port: int) -> None:
    data = os.urandom(32 * 1024 * 1024)

    with (
        Relay("127.0.0.1", echo_port) as relay,
        socket.create_connection(("127.0.0.1", relay.port), timeout=20) as client,
    ):
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        first = client.recv(1)
        held_back = relay.traffic.received_bytes
        received = first + b"".join(iter(lambda: client.recv(65536), b""))

    assert received == data
    assert held_back < len(data)


def test_a_relay_that_does_not_listen_has_no_port() -> None:
    relay = Relay("127.0.0.1", 1)

    with pytest.raises(ClusterError) as caught:
        _ = relay.port

    assert str(caught.value) == "relay is not listening"
    assert relay.cut() == 0


def test_a_server_that_is_not_there_ends_the_agents_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    with Relay("127.0.0.1", port) as relay:
        with socket.create_connection(("127.0.0.1", relay.port), timeout=10) as client:
            try:
                received = client.recv(1)
            except ConnectionResetError:
                received = b""
        count = relay.cut()

    assert (received, count) == (b"", 0)


def test_real_kubectl_speaks_through_the_relay_with_the_agents_token_only(
    api_server: StubApiServer, tmp_path: Path
) -> None:
    kubectl = shutil.which("kubectl")
    assert kubectl is not None, "kubectl is needed on the PATH"
    with Relay("127.0.0.1", api_server.port) as relay:
        identity = Identity(
            server=relay.url, ca_pem=api_server.ca_pem, token="the-token", namespace="lab-1"
        )
        with build_workspace(identity, kubectl=Path(kubectl), parent_dir=tmp_path) as workspace:
            before = _kubectl(workspace, "get", "--raw", "/healthz")
            relay.cut()
            after = _kubectl(workspace, "get", "--raw", "/healthz")

    assert (before.returncode, before.stdout) == (0, "ok")
    assert set(api_server.tokens) == {"Bearer the-token"}
    assert after.returncode == 1
    assert "connection refused" in after.stderr.lower() or "was refused" in after.stderr.lower()


def test_real_kubectl_checks_a_server_by_the_name_in_its_certificate(
    named_api_server: StubApiServer, tmp_path: Path
) -> None:
    kubectl = shutil.which("kubectl")
    assert kubectl is not None, "kubectl is needed on the PATH"
    codes = []
    with Relay("127.0.0.1", named_api_server.port) as relay:
        for name in ("api.example", "other.example", None):
            identity = Identity(
                server=relay.url,
                ca_pem=named_api_server.ca_pem,
                token="t",
                namespace="lab-1",
                tls_server_name=name,
            )
            with build_workspace(identity, kubectl=Path(kubectl), parent_dir=tmp_path) as built:
                codes.append(_kubectl(built, "get", "--raw", "/healthz").returncode)

    assert codes == [0, 1, 1]
