"""The instruments as a process: tokens, memory, and answers from now on."""

from __future__ import annotations

import http.client
import json
import select
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from harness.bench.instruments import InstrumentsClient
from harness.cluster.services.processes import LabProcess, start_instruments
from harness.core.waiting import wait_until
from harness.errors import ClusterError

CALL: dict[str, Any] = {
    "requestId": "task-1",
    "capability": "sim.mix_color",
    "inputs": {"sample_id": "s", "red_fraction": 1, "blue_fraction": 0, "total_mass_g": 2},
    "fencingToken": 1,
}
CONTROLLER = {"Authorization": "Bearer c"}
HARNESS = {"Authorization": "Bearer h"}
VERBS = ("restart", "drop-link", "hold", "let-go")


class Process:
    """The instruments as a process of their own, with a journal that outlives it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = ""
        self.process: LabProcess | None = None

    def start(self) -> None:
        """Start it, with what the journal holds."""
        self.process = start_instruments(log_path=self.folder / "log")
        setups = [
            {"name": "mixer-1", "type": "mixer", "latencySeconds": 0.2},
            {"name": "mixer-2", "type": "mixer", "latencySeconds": 0, "reservoirGrams": 50},
            {"name": "balance-1", "type": "balance", "latencySeconds": 0, "noiseGrams": 0.05},
            {"name": "sulky", "type": "mixer", "refuses": True},
        ]
        self.process.configure(
            {
                "host": "127.0.0.1",
                "port": 0,
                "journal_path": str(self.folder / "journal.jsonl"),
                "controller_token": "c",
                "harness_token": "h",
                "instruments": setups,
            }
        )
        self.url = f"http://127.0.0.1:{self.process.ready()['port']}"

    def line(self) -> closing[InstrumentsClient]:
        """Open the harness's own line to it."""
        return closing(InstrumentsClient(self.url, token="h"))

    def end(self) -> None:
        """End it."""
        assert self.process is not None
        self.process.end()

    def call(self, name: str = "mixer-1", **more: Any) -> int:
        """Send a call; return the HTTP status."""
        url = f"{self.url}/v1/instruments/{name}/requests"
        return httpx.post(url, json={**CALL, **more}, headers=CONTROLLER).status_code

    def weigh(self, request_id: str, token: int) -> int:
        """Weigh the vessel; return the HTTP status, 0 for a link that dropped."""
        looks = {"capability": "sim.measure_mass", "inputs": {"sample_id": "s"}}
        try:
            return self.call("balance-1", requestId=request_id, fencingToken=token, **looks)
        except httpx.RemoteProtocolError:
            return 0

    def events(self) -> list[str]:
        """Read the kinds of the journal's entries."""
        answer = httpx.get(f"{self.url}/v1/journal", headers=HARNESS)
        return [entry["event"] for entry in answer.json()["entries"]]

    def wait_idle(self) -> None:
        """Wait until no instrument is at work."""
        wait_until(
            lambda: httpx.get(f"{self.url}/v1/state", headers=HARNESS).json(),
            lambda state: state == {"idle": True},
            what="idle",
            timeout_s=10,
        )


@pytest.fixture
def instruments(tmp_path: Path) -> Iterator[Process]:
    process = Process(tmp_path)
    process.start()
    yield process
    process.end()


def test_a_request_id_is_not_acted_on_twice_not_even_after_a_restart(instruments: Process) -> None:
    first = instruments.call()
    instruments.wait_idle()
    again = instruments.call(fencingToken=2)
    instruments.end()
    instruments.start()
    after = instruments.call(fencingToken=3)
    weighed = instruments.call(
        "balance-1", requestId="w-1", capability="sim.measure_mass", inputs={"sample_id": "s"}
    )
    instruments.wait_idle()

    assert (first, again, after, weighed) == (202, 200, 200, 202)
    expected = ["accepted", "started", "finished", "duplicate", "duplicate"]
    assert instruments.events()[:5] == expected
    lines = (instruments.folder / "journal.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["outputs"]["mass_g"] == pytest.approx(2.0, abs=0.3)


def test_a_restart_in_the_middle_of_a_call_is_on_record_as_a_stop(instruments: Process) -> None:
    instruments.call()
    assert instruments.process is not None
    instruments.process.crash()
    instruments.end()

    instruments.start()

    assert instruments.events() == ["accepted", "started", "stopped"]


def test_stale_tokens_refusals_and_nonsense_are_told_apart(instruments: Process) -> None:
    codes = [
        instruments.call(fencingToken=5),
        instruments.call(requestId="b", fencingToken=5),
        instruments.call("sulky", requestId="c"),
        instruments.call("nobody", requestId="d"),
        instruments.call(requestId="e", capability="sim.brew", fencingToken=9),
        instruments.call(requestId=7),
    ]

    assert codes == [202, 409, 503, 404, 422, 400]
    kinds = [event for event in instruments.events() if event != "finished"]
    assert kinds == ["accepted", "started", "stale", "refused", "refused"]


def test_each_token_opens_its_own_doors(instruments: Process) -> None:
    body = json.dumps(CALL).encode()
    url = f"{instruments.url}/v1/instruments/mixer-1/requests"

    codes = [
        httpx.post(url, content=body, headers=HARNESS).status_code,
        httpx.post(url, content=body).status_code,
        httpx.get(f"{instruments.url}/v1/journal", headers=CONTROLLER).status_code,
        httpx.get(f"{instruments.url}/v1/state", headers=CONTROLLER).status_code,
        httpx.get(f"{instruments.url}/v1/answers", headers=HARNESS).status_code,
        *(
            httpx.request(method, f"{instruments.url}{path}", headers=CONTROLLER).status_code
            for method, path in (
                ("GET", "/v1/world"),
                ("POST", "/v1/fates"),
                ("POST", "/v1/release"),
                *(("POST", f"/v1/instruments/mixer-1/{verb}") for verb in VERBS),
            )
        ),
        httpx.post(f"{instruments.url}/v1/instruments/mixer-1/fence", headers=HARNESS).status_code,
    ]

    assert codes == [401] * 13
    assert instruments.events() == []


def test_answers_are_heard_from_now_on(instruments: Process) -> None:
    instruments.call()
    instruments.wait_idle()

    with httpx.stream("GET", f"{instruments.url}/v1/answers", headers=CONTROLLER) as stream:
        lines = stream.iter_lines()
        subscribed = json.loads(next(lines))
        instruments.call(requestId="second", fencingToken=2)
        heard = json.loads(next(lines))

    assert subscribed == {"subscribed": True}
    assert heard["requestId"] == "second"
    assert heard["outcome"] == "succeeded"


def test_the_journal_is_the_owners_alone(instruments: Process) -> None:
    mode = (instruments.folder / "journal.jsonl").stat().st_mode

    assert stat.S_IMODE(mode) == 0o600


def test_the_process_ends_cleanly_when_told_although_somebody_listens(
    instruments: Process,
) -> None:
    with httpx.stream("GET", f"{instruments.url}/v1/answers", headers=CONTROLLER) as stream:
        next(stream.iter_lines())
        instruments.end()

    said = (instruments.folder / "log").read_text().splitlines()
    assert [line for line in said if not line.startswith("ready ")] == []


def test_a_connection_that_a_client_keeps_for_later_is_not_closed_under_it(
    instruments: Process,
) -> None:
    """The API server keeps its connection to the webhook for 90 s, and cannot repeat a call."""
    address = urlsplit(instruments.url)
    kept = http.client.HTTPConnection(str(address.hostname), int(address.port or 0))
    with closing(kept):
        kept.request("GET", "/healthz")
        assert kept.getresponse().read() == b'{"healthy":true}'

        closed, _, _ = select.select([kept.sock], [], [], 7)

    assert closed == []


def test_what_was_told_decided_and_held_back_survives_a_kill_of_the_process(
    instruments: Process,
) -> None:
    mix = {"capability": "sim.mix_color", "fencingToken": 1}
    with instruments.line() as line:
        line.tell_fates("key", {"mixer-2": [{"kind": "cut_off", "share": 0.25, "silent": True}]})
        instruments.call("mixer-2", requestId="m-1", **mix)
        instruments.wait_idle()
        line.hold("mixer-1")
        line.drop_link("balance-1")
        before = line.world()
        weighed = [instruments.weigh("w-1", 1)]
    assert instruments.process is not None
    instruments.process.crash()
    instruments.end()

    instruments.start()

    with instruments.line() as line:
        weighed.append(instruments.weigh("w-2", 2))
        instruments.call("mixer-1", requestId="m-2", **mix)
        assert line.world() == before
        assert not line.idle()
        with pytest.raises(ClusterError, match="answered 409: fates are told once"):
            line.tell_fates("other", {})
        with httpx.stream("GET", f"{instruments.url}/v1/answers", headers=CONTROLLER) as stream:
            lines = stream.iter_lines()
            next(lines)
            line.release("m-1")
            late = json.loads(next(lines))
            line.let_go("mixer-1")
            held = json.loads(next(lines))
        readings = [entry["outputs"] for entry in line.journal() if "outputs" in entry][:2]
    assert weighed == [0, 202]
    assert before["vessels"]["s"]["red_g"] == 0.5
    assert late == {**late, "requestId": "m-1", "outcome": "failed"}
    assert held == {**held, "requestId": "m-2", "outcome": "succeeded"}
    assert readings[0]["mass_g"] != 0.5
    assert readings[0]["mass_g"] != readings[1]["mass_g"]


def test_a_dropped_link_is_closed_without_an_answer_after_the_call_was_accepted(
    instruments: Process,
) -> None:
    with instruments.line() as line:
        line.drop_link("mixer-1")

    with pytest.raises(httpx.RemoteProtocolError):
        instruments.call()

    assert instruments.events() == ["drops_link", "accepted", "link_dropped", "started"]
    assert instruments.call(requestId="next", fencingToken=2) == 202


def test_who_names_an_instrument_that_is_not_there_is_told(instruments: Process) -> None:
    with instruments.line() as line:
        with pytest.raises(ClusterError, match="answered 404: no instrument 'nobody'"):
            line.hold("nobody")
        with pytest.raises(ClusterError, match="answered 404: no answer to 'x' is held back"):
            line.release("x")
        with pytest.raises(ClusterError, match=r"answered 400: fates: .*'half'"):
            line.tell_fates("k", {"mixer-1": [{"kind": "half"}]})
