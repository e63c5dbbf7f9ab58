"""What an accepted call comes to, what can be seen of it, and what cannot."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from harness.errors import ConfigError
from harness.lab.instruments.fate import Fate, FateKind, noise
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.slot import Call, Entry, InstrumentSetup
from tests.unit.lab.fakes import START

LATENCY_S = 2.0
AMOUNTS_G = {"red_g": 2.0, "green_g": 1.0, "blue_g": 1.0}
LATER = START + timedelta(seconds=60)

#: Fate to the mass that it leaves in the vessel and takes from the reservoir.
LEFT_G = {
    FateKind.WHOLE: 4.0,
    FateKind.NOTHING: 0.0,
    FateKind.CUT_OFF: 4.0 * 0.45,
    FateKind.TWICE: 8.0,
}


def _blank(*, noise_g: float = 0.0) -> Rack:
    return Rack(
        [
            InstrumentSetup(name="mixer-1", type="mixer", latency_s=LATENCY_S, reservoir_g=100.0),
            InstrumentSetup(name="balance-1", type="balance", noise_g=noise_g),
        ]
    )


def _rack(*fates: Fate, noise_g: float = 0.0) -> Rack:
    rack = _blank(noise_g=noise_g)
    assert rack.tell("k", {"mixer-1": fates}, START).code == 200
    return rack


def _ask(rack: Rack, instrument: str, capability: str, n: int, **inputs: Any) -> list[Entry]:
    call = Call(request_id=f"r{n}", capability=capability, inputs=inputs, fencing_token=n)
    reply = rack.submit(instrument, call, LATER)
    assert reply.code == 202, reply.message
    return [*reply.entries, *rack.advance(LATER + timedelta(seconds=LATENCY_S))]


def _mixed(rack: Rack) -> list[Entry]:
    call = Call(
        request_id="r1",
        capability="sim.mix_components",
        inputs={"sample_id": "s1", **AMOUNTS_G},
        fencing_token=1,
    )
    reply = rack.submit("mixer-1", call, START)
    assert rack.advance(START + timedelta(seconds=LATENCY_S - 0.01)) == ()
    return [*reply.entries, *rack.advance(START + timedelta(seconds=LATENCY_S))]


def _outputs(entries: list[Entry]) -> Mapping[str, Any]:
    outputs: Mapping[str, Any] = entries[-1]["outputs"]
    return outputs


@pytest.mark.parametrize("kind", FateKind)
def test_balance_and_gauge_agree_on_what_was_done(kind: FateKind) -> None:
    rack = _rack(Fate(kind=kind, share=0.45))
    _mixed(rack)

    mass = _outputs(_ask(rack, "balance-1", "sim.measure_mass", 11, sample_id="s1"))
    gauge = _outputs(_ask(rack, "mixer-1", "sim.read_gauge", 2))

    assert mass["mass_g"] == pytest.approx(LEFT_G[kind])
    assert gauge["level_g"] == pytest.approx(100.0 - LEFT_G[kind])


@pytest.mark.parametrize(
    ("kind", "events"),
    [
        (FateKind.WHOLE, ["accepted", "started", "finished"]),
        (FateKind.NOTHING, ["accepted", "stopped"]),
        (FateKind.CUT_OFF, ["accepted", "started", "stopped"]),
        (FateKind.TWICE, ["accepted", "started", "finished", "started", "finished"]),
    ],
)
def test_an_instruments_own_log_tells_each_fate_from_the_others(
    kind: FateKind, events: list[str]
) -> None:
    rack = _rack(Fate(kind=kind))
    journal = _mixed(rack)

    log = _outputs(_ask(rack, "mixer-1", "sim.read_log", 2))

    told = [entry["event"] for entry in log["entries"] if entry["requestId"] == "r1"]
    assert told == [entry["event"] for entry in journal] == events
    assert log["up_since"] == ""


@pytest.mark.parametrize("kind", FateKind)
def test_an_instrument_is_busy_for_the_same_time_whatever_the_fate(kind: FateKind) -> None:
    rack = _rack(Fate(kind=kind))
    call = Call(
        request_id="r1",
        capability="sim.mix_components",
        inputs={"sample_id": "s1", **AMOUNTS_G},
        fencing_token=1,
    )

    rack.submit("mixer-1", call, START)

    assert rack.next_at == START + timedelta(seconds=LATENCY_S)
    rack.advance(START + timedelta(seconds=LATENCY_S))
    assert rack.idle


def test_a_restart_without_memory_empties_the_log_and_not_the_vessel() -> None:
    rack = _rack(Fate())
    _mixed(rack)
    restarted_at = START + timedelta(seconds=5)

    rack.restart("mixer-1", restarted_at)

    log = _outputs(_ask(rack, "mixer-1", "sim.read_log", 2))
    mass = _outputs(_ask(rack, "balance-1", "sim.measure_mass", 11, sample_id="s1"))
    assert [entry["requestId"] for entry in log["entries"]] == ["r2", "r2"]
    assert log["up_since"] == restarted_at.isoformat()
    assert mass["mass_g"] == 4.0


def test_only_the_first_acting_calls_have_a_fate_of_their_own() -> None:
    rack = _rack(Fate(kind=FateKind.NOTHING))
    _ask(rack, "mixer-1", "sim.read_gauge", 1)
    _ask(rack, "mixer-1", "sim.mix_components", 2, sample_id="s1", **AMOUNTS_G)

    _ask(rack, "mixer-1", "sim.mix_components", 3, sample_id="s1", **AMOUNTS_G)

    assert rack.world.vessels["s1"].mass_g == 4.0


@pytest.mark.parametrize("kind", FateKind)
def test_a_rack_that_replays_its_journal_is_the_rack_that_wrote_it(kind: FateKind) -> None:
    first, told = _blank(), {"mixer-1": (Fate(kind=kind, share=0.3), Fate(kind=FateKind.TWICE))}
    journal = [*first.tell("k", told, START).entries, *_mixed(first)]
    journal += first.restart("mixer-1", START + timedelta(seconds=9)).entries
    second = _blank()

    assert second.replay(journal, LATER) == ()

    assert second.world == first.world
    again = [_ask(one, "mixer-1", "sim.read_log", 2) for one in (first, second)]
    assert again[0] == again[1]
    after = [
        _ask(one, "mixer-1", "sim.mix_components", 3, sample_id="s1", **AMOUNTS_G)
        for one in (first, second)
    ]
    assert after[0] == after[1]


def test_a_held_back_answer_is_marked_in_the_journal() -> None:
    assert _mixed(_rack(Fate(silent=True)))[-1]["silent"] is True
    assert "silent" not in _mixed(_rack(Fate()))[-1]


def test_readings_have_an_error_that_only_the_key_explains() -> None:
    rack = _rack(Fate(), noise_g=0.05)
    _mixed(rack)

    read = _outputs(_ask(rack, "balance-1", "sim.measure_mass", 11, sample_id="s1"))["mass_g"]

    assert read == round(4.0 + noise("k", "r11", sigma=0.05), 3)
    assert 0 < abs(read - 4.0) < 0.3
    assert noise("other", "r1", sigma=0.05) != noise("k", "r1", sigma=0.05)


def test_a_fate_that_there_is_not_is_refused() -> None:
    assert Fate.of({"kind": "twice"}) == Fate(kind=FateKind.TWICE)
    with pytest.raises(ConfigError, match=r"fate .half. with share 0\.5"):
        Fate.of({"kind": "half"})
    with pytest.raises(ConfigError, match="share 1"):
        Fate.of({"share": 1})
