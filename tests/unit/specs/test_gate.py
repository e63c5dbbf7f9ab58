"""The gate's streak, bound and cause, in time that moves only when slept on."""

from __future__ import annotations

import itertools
import random

import pytest

from harness.errors import SpecError, WaitTimeoutError
from harness.model.spec import CaseResult, Cause
from harness.specs.gate import cause_of, explain, open_gate
from harness.specs.streak import PROBES, Needed, Streak
from tests.unit.core.fakes import FakeClock
from tests.unit.specs.fakes import result_of

WEBHOOK = "webhook:w"
HELD = (result_of(refuser=WEBHOOK),)
SHUT = (result_of(Cause.CONNECTION_REFUSED),)
LET_THROUGH = (result_of(Cause.NOT_ENFORCED, refuser=WEBHOOK),)


class Rounds:
    """Gives these rounds and then the last one for ever; each is as often probed as was asked."""

    def __init__(self, *script: tuple[CaseResult, ...]) -> None:
        self._left = list(script)
        self.markers: list[str] = []
        self.probes: list[int] = []

    def __call__(self, marker: str, probes: int) -> tuple[CaseResult, ...]:
        """Give the next round."""
        self.markers.append(marker)
        self.probes.append(probes)
        results = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        return tuple(result.model_copy(update={"probes": probes}) for result in results)


def test_the_gate_opens_after_three_rounds_in_a_row_the_first_of_them_cheap() -> None:
    rounds, clock = Rounds(SHUT, SHUT, HELD), FakeClock()

    report = open_gate(rounds, timeout_s=10, clock=clock)

    assert (report.rounds, report.relapses, report.probes) == (5, 0, {WEBHOOK: 30})
    assert rounds.probes == [1, 1, 1, 15, 14]
    assert len(set(rounds.markers)) == 5


def test_there_is_a_pause_after_a_round_that_does_not_hold_and_none_within_a_streak() -> None:
    clock = FakeClock()

    report = open_gate(Rounds(SHUT, SHUT, HELD), timeout_s=10, interval_s=0.25, clock=clock)

    assert clock.slept_s == [0.25, 0.25]
    assert report.opened_after_s == pytest.approx(0.5)


@pytest.mark.parametrize(("relapses", "rounds"), [(0, 3), (1, 6), (2, 12), (3, 12), (9, 12)])
def test_each_relapse_doubles_the_streak_up_to_a_bound(relapses: int, rounds: int) -> None:
    ups_and_downs = [HELD, SHUT] * relapses
    probe = Rounds(*ups_and_downs, HELD)

    report = open_gate(probe, timeout_s=10, clock=FakeClock())

    assert report.relapses == relapses
    assert report.rounds == 2 * relapses + rounds
    assert report.probes[WEBHOOK] >= PROBES * rounds // 3


def test_a_case_that_held_and_was_lost_within_a_round_is_a_relapse_too() -> None:
    flapping = (result_of(Cause.FLAPPING, refuser=WEBHOOK),)

    report = open_gate(Rounds(flapping, HELD), timeout_s=10, clock=FakeClock())

    assert report.relapses == 1


def test_a_guard_that_has_fewer_probes_than_asked_for_gets_more_rounds() -> None:
    def once(_marker: str, _probes: int) -> tuple[CaseResult, ...]:
        return HELD

    report = open_gate(once, timeout_s=10, clock=FakeClock())

    assert (report.rounds, report.probes) == (PROBES, {WEBHOOK: PROBES})


def test_the_least_probed_guard_decides() -> None:
    results = (result_of(refuser=WEBHOOK), *[result_of(refuser="policy:p")] * 40)
    streak = Streak().plus(results).plus(results).plus(results)

    assert streak.probes == {WEBHOOK: 3, "policy:p": 120}
    assert not Needed().met_by(streak)
    assert Needed().share(streak) == PROBES - 3


def test_what_the_api_server_decides_by_itself_needs_the_rounds_alone() -> None:
    rounds = Rounds((result_of(refuser="rbac"), result_of(refuser="")))

    report = open_gate(rounds, timeout_s=10, clock=FakeClock())

    assert (report.rounds, report.probes) == (3, {})


def test_what_is_stamped_by_nobody_named_is_probed_as_often_as_a_guard() -> None:
    rounds = Rounds((result_of(refuser="", guard="spec:s"), result_of(refuser="rbac")))

    report = open_gate(rounds, timeout_s=10, clock=FakeClock())

    assert report.probes == {"spec:s": PROBES}
    assert sum(rounds.probes) >= PROBES


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
def test_a_guard_that_lets_through_a_share_of_its_calls_hardly_ever_opens_the_gate(
    share: float,
) -> None:
    chance = random.Random(5)  # noqa: S311 - the same each time
    openings = 0

    def probe(_marker: str, probes: int) -> tuple[CaseResult, ...]:
        if any(chance.random() < share for _ in range(probes)):
            return LET_THROUGH
        return (result_of(refuser=WEBHOOK).model_copy(update={"probes": probes}),)

    for _ in range(100):
        try:
            open_gate(probe, timeout_s=1, clock=FakeClock())
        except WaitTimeoutError:
            continue
        openings += 1

    assert openings <= (10 if share < 0.2 else 0)


def test_two_backends_in_turn_stay_shut_though_single_probes_meet_the_good_one() -> None:
    works = itertools.cycle([True, False])

    def probe(_marker: str, probes: int) -> tuple[CaseResult, ...]:
        met = [next(works) for _ in range(probes)]
        next(works)  # the control, which the stale backend admits as well as the other
        if not all(met):
            return (result_of(Cause.FLAPPING, refuser=WEBHOOK),)
        return (result_of(refuser=WEBHOOK),)

    with pytest.raises(WaitTimeoutError, match="enforced at times only"):
        open_gate(probe, timeout_s=5, clock=FakeClock())


def test_a_gate_that_never_opens_names_the_cause_and_the_case() -> None:
    with pytest.raises(WaitTimeoutError) as caught:
        open_gate(Rounds(SHUT), timeout_s=2, clock=FakeClock())

    assert str(caught.value) == (
        "gate not ready within 2 s, last seen: "
        "connection refused: an agent cannot (a-spec): what was found"
    )


def test_a_gate_that_runs_out_of_time_while_all_holds_says_what_failed_before() -> None:
    clock = FakeClock()

    def probe(_marker: str, probes: int) -> tuple[CaseResult, ...]:
        if clock.monotonic_s() < 0.05:
            return SHUT
        clock.sleep(0.4)
        return tuple(result.model_copy(update={"probes": probes}) for result in HELD)

    with pytest.raises(WaitTimeoutError) as caught:
        open_gate(probe, timeout_s=0.5, clock=clock)

    assert str(caught.value) == (
        "gate not ready within 0.5 s, last seen: held for 2 of 3 rounds when time was up; "
        "before that connection refused: an agent cannot (a-spec): what was found"
    )


def test_what_the_cluster_cannot_run_does_not_keep_the_gate_shut() -> None:
    rounds = Rounds((*HELD, result_of(Cause.NOT_RUNNABLE)))

    assert open_gate(rounds, timeout_s=2, clock=FakeClock()).rounds == 3


@pytest.mark.parametrize("results", [(), (result_of(Cause.NOT_RUNNABLE),)])
def test_a_gate_of_which_no_case_can_be_judged_never_opens(
    results: tuple[CaseResult, ...],
) -> None:
    with pytest.raises(SpecError) as caught:
        open_gate(Rounds(results), timeout_s=2, clock=FakeClock())

    assert str(caught.value) == f"no case can be judged here, {len(results)} are due"


def test_the_outermost_cause_is_the_gates() -> None:
    results = (
        result_of(Cause.CONTROL_REFUSED),
        result_of(Cause.TLS),
        result_of(Cause.KIND_MISSING),
        result_of(),
    )

    assert cause_of(results) is Cause.KIND_MISSING
    assert cause_of(HELD) is None


def test_a_guard_that_lets_all_of_its_cases_through_was_never_in_effect() -> None:
    open_policy = result_of(Cause.NOT_ENFORCED, refuser="policy:p")

    assert cause_of((open_policy, result_of(refuser="policy:other"))) is Cause.NOT_EFFECTIVE


def test_a_guard_that_refuses_some_and_lets_others_through_does_not_enforce() -> None:
    open_policy = result_of(Cause.NOT_ENFORCED, refuser="policy:p")

    assert cause_of((open_policy, result_of(refuser="policy:p"))) is Cause.NOT_ENFORCED
    assert cause_of((result_of(Cause.NOT_ENFORCED, refuser="rbac"),)) is Cause.NOT_ENFORCED


@pytest.mark.parametrize(
    ("relapses", "cause"), [(0, Cause.NOT_EFFECTIVE), (1, Cause.NOT_EFFECTIVE), (2, Cause.FLAPPING)]
)
def test_a_guard_that_was_lost_once_is_gone_and_one_that_was_lost_twice_comes_and_goes(
    relapses: int, cause: Cause
) -> None:
    assert cause_of(LET_THROUGH, relapses=relapses) is cause
    assert cause_of(SHUT, relapses=relapses) is Cause.CONNECTION_REFUSED


def test_every_cause_is_the_gates_when_it_stands_alone() -> None:
    alone = {cause: cause_of((result_of(cause),)) for cause in Cause}

    assert alone == {cause: None if cause is Cause.NOT_RUNNABLE else cause for cause in Cause}


def test_an_explanation_names_two_cases_and_counts_the_others_and_the_relapses() -> None:
    results = (
        *(result_of(Cause.TLS, case=name) for name in ("one", "two", "three")),
        result_of(Cause.CONTROL_REFUSED, case="four"),
        result_of(case="five"),
    )
    said = "TLS/CA: one (a-spec): what was found; two (a-spec): what was found; and 2 more of 5"

    assert explain(results) == said
    assert explain(results, relapses=4) == f"{said}; held before and was lost 4 times"
    assert explain(HELD) == "1 cases held"
