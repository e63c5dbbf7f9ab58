"""The instruments in real time: what is on record before anybody hears it, and who hears what."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from harness.lab.instruments.desk import Desk
from harness.lab.instruments.fate import Fate
from harness.lab.instruments.journal import Journal
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.slot import Call, InstrumentSetup

#: Seconds that nothing here may take; all of it is done within milliseconds.
_BOUND_S = 10.0


def _desk(path: Path) -> Desk:
    return Desk(Rack([InstrumentSetup(name="mixer-1", type="mixer")]), Journal(path))


def _mix(desk: Desk, n: int) -> int:
    inputs = {"sample_id": "s1", "red_g": 1.0, "green_g": 0.0, "blue_g": 0.0}
    call = Call(request_id=f"r{n}", capability="sim.mix_components", inputs=inputs, fencing_token=n)
    return desk.do(lambda rack, now: rack.submit("mixer-1", call, now)).code


async def _next(stream: AsyncIterator[bytes]) -> dict[str, Any]:
    line = await asyncio.wait_for(anext(stream), _BOUND_S)
    said: dict[str, Any] = json.loads(line)
    return said


def test_who_listens_hears_what_is_released_and_what_ends_but_nothing_silent(
    tmp_path: Path,
) -> None:
    desk = _desk(tmp_path / "journal")

    async def scene() -> list[dict[str, Any]]:
        running = asyncio.create_task(desk.run())
        stream = desk.answers()
        said = [await _next(stream)]
        silent = {"mixer-1": (Fate(silent=True), Fate())}
        desk.do(lambda rack, now: rack.tell("key", silent, now))
        _mix(desk, 1)
        _mix(desk, 2)
        said.append(await _next(stream))
        desk.do(lambda rack, now: rack.release("r1", now))
        said.append(await _next(stream))
        await stream.aclose()
        running.cancel()
        return said

    said = asyncio.run(scene())

    assert said[0] == {"subscribed": True}
    assert [one["requestId"] for one in said[1:]] == ["r2", "r1"]
    assert [one["event"] for one in desk.journal.entries] == [
        "fated",
        *("accepted", "started", "accepted"),
        *("finished", "started", "finished"),
        "released",
    ]


def test_an_answer_that_nobody_hears_is_not_kept_for_later(tmp_path: Path) -> None:
    desk = _desk(tmp_path / "journal")

    async def scene() -> dict[str, Any]:
        running = asyncio.create_task(desk.run())
        first = desk.answers()
        await _next(first)
        _mix(desk, 1)
        await _next(first)
        late = desk.answers()
        await _next(late)
        _mix(desk, 2)
        heard = await _next(late)
        for stream in (first, late):
            await stream.aclose()
        running.cancel()
        return heard

    assert asyncio.run(scene())["requestId"] == "r2"


def test_a_desk_on_the_same_journal_goes_on_where_the_other_was_killed(tmp_path: Path) -> None:
    first = _desk(tmp_path / "journal")
    first.do(lambda rack, now: rack.tell("key", {"mixer-1": (Fate(silent=True),)}, now))
    first.do(lambda rack, now: rack.hold("mixer-1", now))
    _mix(first, 1)

    second = _desk(tmp_path / "journal")

    assert second.rack.idle
    assert [one["event"] for one in second.journal.entries][-1] == "stopped"
    assert _mix(second, 1) == 200
    assert second.do(lambda rack, now: rack.tell("key", {}, now)).code == 409
    assert _mix(second, 2) == 202
    assert second.rack.next_at is None


def test_a_desk_that_is_told_to_stop_puts_on_record_what_had_not_ended(tmp_path: Path) -> None:
    desk = _desk(tmp_path / "journal")
    _mix(desk, 1)

    desk.stop()

    assert [one["event"] for one in desk.journal.entries] == ["accepted", "started", "stopped"]
