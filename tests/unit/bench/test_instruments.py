"""The harness's own line to the instruments: what it asks, and what it makes of no answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from harness.bench.instruments import InstrumentsClient
from harness.errors import ClusterError


@contextmanager
def _serving(answers: dict[str, tuple[int, Any]]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Serve these answers by path; give the address, and what was asked with which token."""
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Authorization"]))
            status, body = answers[self.path]
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", asked
        finally:
            server.shutdown()
            thread.join()


def test_the_journal_is_read_in_order_with_the_harnesses_token() -> None:
    entries = [{"event": "accepted"}, {"event": "finished"}]
    with _serving({"/v1/journal": (200, {"entries": entries})}) as (url, asked):
        client = InstrumentsClient(url, token="secret")

        assert client.journal() == entries
        client.close()

    assert asked == [("/v1/journal", "Bearer secret")]


@pytest.mark.parametrize("idle", [True, False])
def test_whether_the_instruments_are_at_rest_is_what_they_say(*, idle: bool) -> None:
    with _serving({"/v1/state": (200, {"idle": idle})}) as (url, _):
        client = InstrumentsClient(url, token="secret")

        assert client.idle() is idle
        client.close()


def test_a_refusal_is_a_cluster_error_that_does_not_tell_the_token() -> None:
    with _serving({"/v1/journal": (401, {})}) as (url, _):
        client = InstrumentsClient(url, token="secret")

        with pytest.raises(
            ClusterError, match=r"instruments: /v1/journal not answered: .*401"
        ) as caught:
            client.journal()

        client.close()

    assert "secret" not in str(caught.value)


def test_nobody_at_the_address_is_a_cluster_error() -> None:
    with _serving({}) as (url, _):
        pass
    client = InstrumentsClient(url, token="secret")

    with pytest.raises(ClusterError, match="instruments: /v1/state not answered"):
        client.idle()

    client.close()
    client.close()
