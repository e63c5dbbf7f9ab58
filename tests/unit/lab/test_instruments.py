"""The world, the rack and the journal, with a clock passed in."""

from __future__ import annotations

import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.lab.instruments.calls import knows, perform
from harness.lab.instruments.journal import Journal
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.slot import Call, InstrumentSetup
from harness.lab.instruments.world import World
from tests.unit.lab.fakes import MIX, START

MIXER = InstrumentSetup(name="mixer-1", type="mixer", latency_s=1.0)
BALANCE = InstrumentSetup(name="balance-1", type="balance", latency_s=0.5)


def _mix(world: World, **inputs: Any) -> World:
    return perform(world, "sim.mix_color", {**MIX["inputs"], **inputs}).world


def _call(n: int, *, token: int | None = None, capability: str = "sim.mix_color") -> Call:
    return Call(
        request_id=f"task-{n}",
        capability=capability,
        inputs=MIX["inputs"],
        fencing_token=n if token is None else token,
    )


def test_mixing_into_a_vessel_adds_to_what_is_there() -> None:
    world = _mix(_mix(World(), red_fraction=1, blue_fraction=0), red_fraction=0, blue_fraction=1)

    mass = perform(world, "sim.measure_mass", {"sample_id": "s1"}).outputs
    color = perform(world, "sim.measure_color", {"sample_id": "s1"}).outputs

    assert mass["mass_g"] == 10.0
    assert color["rgb"] == [127.5, 0.0, 127.5]


def test_fractions_are_relative_to_each_other() -> None:
    effect = perform(
        World(), "sim.mix_color", {**MIX["inputs"], "red_fraction": 0.2, "blue_fraction": 0.6}
    )

    assert (effect.outputs["red_fraction"], effect.outputs["blue_fraction"]) == (0.25, 0.75)
    assert effect.outputs["rgb"] == [63.75, 0.0, 191.25]


@pytest.mark.parametrize(
    ("capability", "change", "error"),
    [
        (
            "sim.mix_color",
            {"red_fraction": 0, "blue_fraction": 0},
            "red_fraction and blue_fraction are both 0, one must be above",
        ),
        ("sim.mix_color", {"red_fraction": 2}, "red_fraction is 2, expected 0 to 1"),
        ("sim.mix_color", {"total_mass_g": 0}, "total_mass_g is 0 g, expected more than 0 g"),
        ("sim.mix_color", {"total_mass_g": True}, "total_mass_g is True, expected a number in g"),
        ("sim.measure_mass", {}, "unknown sample 's1'"),
        ("sim.measure_color", {"sample_id": None}, "sample_id is None, expected text"),
        ("sim.brew", {}, "'sim.brew' is no call of this laboratory"),
    ],
)
def test_what_cannot_be_done_is_an_error_and_changes_nothing(
    capability: str, change: dict[str, Any], error: str
) -> None:
    world = World()

    effect = perform(world, capability, {**MIX["inputs"], **change})

    assert effect.error == error
    assert effect.world is world
    assert effect.outputs == {}


def test_labware_goes_from_where_it_is() -> None:
    move = {"labware_id": "p1", "source": "a", "destination": "b"}
    moved = perform(World(), "sim.move_labware", move).world

    again = perform(moved, "sim.move_labware", move)
    located = perform(moved, "sim.locate_labware", {"labware_id": "p1"})
    unknown = perform(moved, "sim.locate_labware", {"labware_id": "p2"})

    assert again.error == "labware 'p1' is at 'b', not at 'a'"
    assert located.outputs["location"] == "b"
    assert unknown.error == "unknown labware 'p2'"


@given(
    st.sampled_from(["sim.mix_color", "sim.measure_mass", "sim.move_labware", "x"]),
    st.dictionaries(
        st.sampled_from([*MIX["inputs"], "labware_id", "source", "destination"]),
        st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.lists(st.none()),
    ),
)
def test_any_call_has_an_effect_and_none_raises(capability: str, inputs: dict[str, Any]) -> None:
    effect = perform(World(), capability, inputs)

    assert bool(effect.error) is not bool(effect.outputs)
    assert knows(capability) is (capability != "x")


def test_a_call_runs_to_its_end_and_calls_go_one_after_the_other() -> None:
    rack = Rack([MIXER])
    rack.submit("mixer-1", _call(1), START)
    queued = rack.submit("mixer-1", _call(2), START)

    early = rack.advance(START + timedelta(seconds=0.9))
    late = rack.advance(START + timedelta(seconds=5))

    assert [entry["event"] for entry in queued.entries] == ["accepted"]
    assert early == ()
    assert [(entry["event"], entry["requestId"]) for entry in late] == [
        ("finished", "task-1"),
        ("started", "task-2"),
        ("finished", "task-2"),
    ]
    assert late[-1]["at"] == (START + timedelta(seconds=2)).isoformat()
    assert rack.idle
    assert rack.world.vessels["s1"].mass_g == 10.0


def test_one_request_id_acts_once_and_a_stale_token_not_at_all() -> None:
    rack = Rack([MIXER])

    codes = [
        rack.submit("mixer-1", call, START).code
        for call in (_call(3), _call(3, token=9), _call(4, token=3), _call(5, token=4))
    ]
    rack.advance(START + timedelta(seconds=9))

    assert codes == [202, 200, 409, 202]
    assert rack.world.vessels["s1"].mass_g == 10.0


def test_a_replayed_journal_gives_the_same_world_and_the_same_memory() -> None:
    first = Rack([MIXER, BALANCE])
    entries = [*first.submit("mixer-1", _call(1), START).entries]
    entries += first.advance(START + timedelta(seconds=2))
    entries += first.submit("mixer-1", _call(2), START + timedelta(seconds=3)).entries

    second = Rack([MIXER, BALANCE])
    stopped = second.replay(entries, START + timedelta(seconds=4))

    assert second.world == first.world
    assert [(entry["event"], entry["requestId"]) for entry in stopped] == [("stopped", "task-2")]
    assert stopped[0]["seq"] == entries[-1]["seq"] + 1
    assert second.submit("mixer-1", _call(2, token=8), START).code == 200
    assert second.submit("mixer-1", _call(9, token=2), START).code == 409
    third = Rack([MIXER])
    assert third.replay([*entries, *stopped], START) == ()


def test_power_off_stops_what_has_not_ended() -> None:
    rack = Rack([MIXER])
    rack.submit("mixer-1", _call(1), START)
    rack.submit("mixer-1", _call(2), START)

    stopped = rack.stop(START)

    assert [entry["event"] for entry in stopped] == ["stopped", "stopped"]
    assert rack.idle
    assert rack.world.vessels == {}


def test_an_instrument_that_refuses_and_one_that_is_not_there() -> None:
    rack = Rack([InstrumentSetup(name="sulky", type="mixer", refuses=True)])

    refused = rack.submit("sulky", _call(1), START)

    assert (refused.code, refused.message) == (503, "instrument 'sulky' refuses every call")
    assert refused.entries[0]["event"] == "refused"
    assert rack.submit("nobody", _call(1), START).code == 404


def test_a_journal_keeps_what_it_was_told_and_drops_a_line_cut_by_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal.jsonl"
    Journal(path).record([{"seq": 1}, {"seq": 2}])
    with path.open("ab") as file:
        file.write(b'{"seq": 3, "ev')

    journal = Journal(path)
    journal.record([{"seq": 3}])

    assert Journal(path).entries == ({"seq": 1}, {"seq": 2}, {"seq": 3})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_no_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text("hello\nthere\n")

    with pytest.raises(ConfigError, match="not a journal"):
        Journal(path)
