"""What the harness does to instruments: holds, dropped links, restarts, late answers, fences."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from harness.lab.instruments.fate import Fate, FateKind
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.reply import Reply, answer_of
from harness.lab.instruments.slot import LOG_LIMIT, Call, Entry, InstrumentSetup
from tests.unit.lab.fakes import START

LATENCY_S = 2.0
SILENT = Fate(kind=FateKind.CUT_OFF, share=0.25, silent=True)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


class Bench:
    """A rack of two mixers and a balance, and the journal of all that happened to it."""

    def __init__(self, *fates: Fate) -> None:
        self.rack = _rack()
        self.journal: list[Entry] = []
        if fates:
            self.do(lambda rack: rack.tell("key", {"mixer-1": fates}, START))

    def do(self, act: Callable[[Rack], Reply]) -> Reply:
        """Do something, and keep the record."""
        reply = act(self.rack)
        self.journal += reply.entries
        return reply

    def mix(self, n: int, when: float = 0.0, *, token: int | None = None) -> Reply:
        """Have mixer-1 put 4 g into the vessel."""
        call = Call(
            request_id=f"r{n}",
            capability="sim.mix_components",
            inputs={"sample_id": "s1", "red_g": 2.0, "green_g": 1.0, "blue_g": 1.0},
            fencing_token=n if token is None else token,
        )
        return self.do(lambda rack: rack.submit("mixer-1", call, at(when)))

    def ask(self, name: str, when: float) -> Reply:
        """Ask an instrument for its gauge."""
        call = Call(request_id=name, capability="sim.read_gauge", inputs={}, fencing_token=1)
        return self.do(lambda rack: rack.submit(name, call, at(when)))

    def look(self, capability: str, n: int, when: float) -> dict[str, Any]:
        """Return what mixer-1 shows of itself."""
        call = Call(request_id=f"r{n}", capability=capability, inputs={}, fencing_token=n)
        self.do(lambda rack: rack.submit("mixer-1", call, at(when)))
        outputs: dict[str, Any] = self.pass_to(when + LATENCY_S)[-1]["outputs"]
        return outputs

    def pass_to(self, when: float) -> tuple[Entry, ...]:
        """Let time pass."""
        entries = self.rack.advance(at(when))
        self.journal += entries
        return entries

    def events(self, n: int) -> list[str]:
        """Return what is on record of a request."""
        return [one["event"] for one in self.journal if one["requestId"] == f"r{n}"]

    @property
    def mass_g(self) -> float:
        """What is in the vessel."""
        return self.rack.world.vessels["s1"].mass_g


def _rack() -> Rack:
    return Rack(
        [
            InstrumentSetup(name="mixer-1", type="mixer", latency_s=LATENCY_S, reservoir_g=100.0),
            InstrumentSetup(name="mixer-2", type="mixer", latency_s=LATENCY_S),
            InstrumentSetup(name="balance-1", type="balance", noise_g=0.1),
        ]
    )


def test_a_held_call_does_not_end_and_ends_at_once_when_it_is_let_go() -> None:
    bench = Bench()
    bench.mix(1)
    bench.do(lambda rack: rack.hold("mixer-1", at(1)))

    early = bench.pass_to(60)
    due_at = bench.rack.next_at
    bench.do(lambda rack: rack.let_go("mixer-1", at(61)))
    late = bench.pass_to(61)

    assert early == ()
    assert due_at is None
    assert [(one["event"], one["at"]) for one in late] == [("finished", at(61).isoformat())]


def test_a_hold_keeps_what_comes_later_too_and_other_instruments_go_on() -> None:
    bench = Bench()
    bench.do(lambda rack: rack.hold("mixer-1", at(0)))
    bench.mix(1)
    bench.ask("mixer-2", 0)

    ended = bench.pass_to(10)

    assert [(one["event"], one["instrument"]) for one in ended] == [("finished", "mixer-2")]
    assert not bench.rack.idle


def test_to_let_go_what_is_not_held_changes_nothing() -> None:
    bench = Bench()
    bench.mix(1)

    reply = bench.do(lambda rack: rack.let_go("mixer-1", at(0.5)))

    assert reply.code == 200
    assert bench.rack.next_at == at(LATENCY_S)


def test_a_dropped_link_loses_the_answer_to_one_call_that_was_accepted() -> None:
    bench = Bench()
    bench.do(lambda rack: rack.drop_link("mixer-1", at(0)))

    replies = [bench.mix(1), bench.mix(2)]

    assert [(one.code, one.dropped) for one in replies] == [(202, True), (202, False)]
    assert bench.events(1) == ["accepted", "link_dropped", "started"]


def test_a_refused_call_does_not_use_up_the_drop() -> None:
    bench = Bench()
    bench.do(lambda rack: rack.drop_link("mixer-1", at(0)))

    stale = bench.mix(1, token=0)

    assert (stale.code, stale.dropped) == (409, False)
    assert bench.mix(2).dropped


def test_a_fence_makes_every_token_up_to_it_stale() -> None:
    bench = Bench()
    bench.do(lambda rack: rack.fence("mixer-1", 3, at(0)))

    codes = [bench.mix(n).code for n in (2, 3, 4)]

    assert codes == [409, 409, 202]
    assert bench.events(3) == ["stale"]


def test_a_lower_fence_does_not_bring_old_tokens_back() -> None:
    bench = Bench()
    bench.mix(5)

    bench.do(lambda rack: rack.fence("mixer-1", 1, at(0)))

    assert bench.mix(3).code == 409


def test_a_restart_gives_up_a_call_of_which_somebody_was_to_hear() -> None:
    bench = Bench()
    bench.mix(1)

    bench.do(lambda rack: rack.restart("mixer-1", at(1)))

    assert bench.events(1) == ["accepted", "started", "stopped"]
    assert bench.rack.world.vessels == {}
    assert bench.rack.idle


def test_a_restart_in_the_middle_of_a_silent_call_leaves_what_its_fate_says() -> None:
    bench = Bench(SILENT)
    bench.mix(1)

    bench.do(lambda rack: rack.restart("mixer-1", at(1), memory=True))

    assert bench.events(1) == ["accepted", "started", "stopped"]
    assert bench.mass_g == 1.0
    assert bench.rack.idle


@pytest.mark.parametrize("memory", [True, False])
def test_a_restart_keeps_log_and_answers_where_there_is_memory(*, memory: bool) -> None:
    bench = Bench(SILENT)
    bench.mix(1)
    bench.pass_to(3)

    bench.do(lambda rack: rack.restart("mixer-1", at(5), memory=memory))

    log = bench.look("sim.read_log", 2, 6)
    released = bench.do(lambda rack: rack.release("r1", at(9)))
    assert log["up_since"] == at(5).isoformat()
    assert ("r1" in {one["requestId"] for one in log["entries"]}) is memory
    assert released.code == (200 if memory else 404)


def test_a_restart_lets_go_what_was_held() -> None:
    bench = Bench()
    bench.do(lambda rack: rack.hold("mixer-1", at(0)))

    bench.do(lambda rack: rack.restart("mixer-1", at(1)))

    bench.mix(1, 2)
    assert [one["event"] for one in bench.pass_to(4)] == ["finished"]


@pytest.mark.parametrize(
    ("fate", "expected"),
    [
        (Fate(silent=True), {"outcome": "succeeded"}),
        (Fate(kind=FateKind.TWICE, silent=True), {"outcome": "succeeded"}),
        (SILENT, {"outcome": "failed"}),
        (Fate(kind=FateKind.NOTHING, silent=True), {"outcome": "failed"}),
    ],
)
def test_a_silent_call_is_answered_once_and_only_when_it_is_released(
    fate: Fate, expected: dict[str, str]
) -> None:
    bench = Bench(fate)
    bench.mix(1)
    before = bench.do(lambda rack: rack.release("r1", at(1)))
    heard = [answer_of(entry) for entry in bench.pass_to(5)]

    released = bench.do(lambda rack: rack.release("r1", at(9)))
    again = bench.do(lambda rack: rack.release("r1", at(9)))

    assert (before.code, released.code, again.code) == (404, 200, 404)
    assert set(heard) == {None}
    answer = answer_of(released.entries[0])
    assert answer is not None
    about = {"requestId": "r1", "instrument": "mixer-1", "at": at(9).isoformat()}
    assert answer.items() >= {**about, **expected}.items()
    assert ("outputs" in answer, "error" in answer) == (
        expected["outcome"] == "succeeded",
        expected["outcome"] == "failed",
    )


def test_an_answer_that_is_not_silent_is_heard_when_the_call_ends_and_never_again() -> None:
    bench = Bench(Fate())
    bench.mix(1)

    heard = [answer_of(entry) for entry in bench.pass_to(2)]

    assert [one and one["outcome"] for one in heard] == ["succeeded"]
    assert bench.do(lambda rack: rack.release("r1", at(3))).code == 404


def test_fates_are_told_once_and_before_any_call() -> None:
    late, twice, strange = Bench(), Bench(SILENT), Bench()
    late.mix(1)

    replies = [
        late.do(lambda rack: rack.tell("k", {}, START)),
        twice.do(lambda rack: rack.tell("k", {}, START)),
        strange.do(lambda rack: rack.tell("k", {"robot-9": ()}, START)),
    ]

    assert [(one.code, one.message) for one in replies] == [
        (409, "fates are told once, and before any call"),
        (409, "fates are told once, and before any call"),
        (404, "no instrument 'robot-9'"),
    ]
    assert all(one.entries == () for one in replies)


def test_nothing_can_be_done_to_an_instrument_that_is_not_there() -> None:
    rack = _rack()

    replies = [
        rack.hold("robot-9", START),
        rack.let_go("robot-9", START),
        rack.drop_link("robot-9", START),
        rack.restart("robot-9", START),
        rack.fence("robot-9", 1, START),
    ]

    assert {(one.code, one.message, one.entries) for one in replies} == {
        (404, "no instrument 'robot-9'", ())
    }


def test_a_replayed_journal_leads_to_the_same_instruments_at_every_point() -> None:
    bench = Bench(SILENT, Fate(kind=FateKind.TWICE, silent=True), Fate(kind=FateKind.NOTHING))
    bench.mix(1)
    bench.pass_to(3)
    bench.do(lambda rack: rack.hold("mixer-2", at(4)))
    bench.do(lambda rack: rack.drop_link("balance-1", at(4)))
    bench.mix(2, 5)
    bench.pass_to(8)
    bench.do(lambda rack: rack.release("r1", at(9)))
    bench.do(lambda rack: rack.restart("mixer-1", at(10), memory=True))
    bench.do(lambda rack: rack.fence("mixer-1", 4, at(10)))

    again = Bench()
    stopped = again.rack.replay(bench.journal, at(11))

    assert stopped == ()
    for one in (bench, again):
        del one.journal[:]
        one.mix(4, 12)
        one.mix(5, 12)
        one.pass_to(20)
        one.do(lambda rack: rack.release("r1", at(21)))
        one.do(lambda rack: rack.release("r2", at(21)))
        one.do(lambda rack: rack.tell("k", {}, at(21)))
        one.ask("mixer-2", 21)
        one.ask("balance-1", 21)
        one.look("sim.read_log", 9, 22)
    assert again.journal == bench.journal
    assert [one["event"] for one in again.journal].count("link_dropped") == 1
    assert again.rack.world == bench.rack.world
    assert not again.rack.idle


def test_a_call_that_a_kill_of_the_process_left_open_is_stopped_once() -> None:
    bench = Bench(SILENT)
    bench.mix(1)
    first = _rack()
    stopped = first.replay(bench.journal, at(1))

    again = _rack().replay([*bench.journal, *stopped], at(2))

    assert [one["event"] for one in stopped] == ["stopped"]
    assert again == ()
    assert first.world.vessels == {}


def test_an_instrument_remembers_the_last_of_what_it_did_and_no_more_than_an_object_holds() -> None:
    bench = Bench()
    for n in range(1, LOG_LIMIT):
        bench.mix(n, 3.0 * n)
        bench.pass_to(3.0 * n + LATENCY_S)

    log = bench.look("sim.read_log", LOG_LIMIT, 3.0 * LOG_LIMIT)

    assert len(log["entries"]) == LOG_LIMIT
    assert log["entries"][-1]["requestId"] == f"r{LOG_LIMIT}"
