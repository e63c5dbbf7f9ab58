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
    posted: list[tuple[str, Any]] = []
    with _telling(answers, asked, posted) as url:
        yield url, asked


@contextmanager
def _telling(
    answers: dict[str, tuple[int, Any]],
    asked: list[tuple[str, str]],
    posted: list[tuple[str, Any]],
) -> Iterator[str]:
    """Serve these answers by path, and keep what was asked and what was posted."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            posted.append((self.path, json.loads(body) if body else None))
            self.do_GET()

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
            yield f"http://127.0.0.1:{server.server_address[1]}"
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

        with pytest.raises(ClusterError, match=r"instruments: /v1/journal answered 401") as caught:
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


def test_each_thing_that_is_done_is_one_request_with_its_body() -> None:
    paths = ["/v1/fates", "/v1/release"]
    paths += [f"/v1/instruments/mixer-1/{verb}" for verb in ("restart", "drop-link", "hold")]
    posted: list[tuple[str, Any]] = []
    answers: dict[str, tuple[int, Any]] = dict.fromkeys(paths, (200, {}))
    answers["/v1/instruments/a%2Fb/let-go"] = (200, {})
    with _telling(answers, [], posted) as url:
        client = InstrumentsClient(url, token="secret")

        client.tell_fates("key", {"mixer-1": ({"kind": "whole", "share": 0.5, "silent": True},)})
        client.release("r-1")
        client.restart("mixer-1", memory=False)
        client.drop_link("mixer-1")
        client.hold("mixer-1")
        client.let_go("a/b")
        client.close()

    fate = {"kind": "whole", "share": 0.5, "silent": True}
    assert posted == [
        ("/v1/fates", {"noiseKey": "key", "fates": {"mixer-1": [fate]}}),
        ("/v1/release", {"requestId": "r-1"}),
        ("/v1/instruments/mixer-1/restart", {"memory": False}),
        ("/v1/instruments/mixer-1/drop-link", None),
        ("/v1/instruments/mixer-1/hold", None),
        ("/v1/instruments/a%2Fb/let-go", None),
    ]


def test_what_stands_on_the_bench_and_whether_anybody_is_at_work_are_read() -> None:
    world: dict[str, Any] = {"vessels": {}, "labware": {}}
    state = {"idle": False}
    with _serving({"/v1/world": (200, world), "/v1/state": (200, state)}) as (url, _):
        client = InstrumentsClient(url, token="secret")

        assert client.world() == world
        assert not client.idle()
        client.close()


@pytest.mark.parametrize(
    ("body", "said"), [({"message": "no such"}, "no such"), ([], "no JSON object")]
)
def test_a_refusal_says_what_the_instruments_said(body: Any, said: str) -> None:
    with _serving({"/v1/release": (404, body)}) as (url, _):
        client = InstrumentsClient(url, token="secret")

        with pytest.raises(ClusterError) as caught:
            client.release("r-1")

        client.close()

    assert caught.value.message == f"instruments: /v1/release answered 404: {said}"
