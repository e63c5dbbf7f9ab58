"""The gate's streak, bound and cause, in time that moves only when slept on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.errors import SpecError, WaitTimeoutError
from harness.model.spec import CaseResult, Cause
from harness.specs.gate import cause_of, explain, open_gate
from tests.unit.core.fakes import FakeClock
from tests.unit.specs.fakes import result_of

HELD = (result_of(),)
SHUT = (result_of(Cause.CONNECTION_REFUSED),)


def _rounds(
    *script: tuple[CaseResult, ...],
) -> tuple[Callable[[str], tuple[CaseResult, ...]], list[str]]:
    """Return a probe that gives these rounds and then the last one for ever, and its markers."""
    left, markers = list(script), []

    def probe(marker: str) -> tuple[CaseResult, ...]:
        markers.append(marker)
        return left.pop(0) if len(left) > 1 else left[0]

    return probe, markers


def test_the_gate_opens_only_after_three_rounds_in_a_row() -> None:
    probe, markers = _rounds(HELD, HELD, SHUT, HELD)
    clock = FakeClock()

    report = open_gate(probe, timeout_s=10, clock=clock)

    assert report.rounds == 6
    assert report.opened_after_s == pytest.approx(0.5)
    assert report.results == HELD
    assert len(set(markers)) == 6


def test_a_gate_that_never_opens_names_the_cause_and_the_case() -> None:
    probe, _ = _rounds(SHUT)

    with pytest.raises(WaitTimeoutError) as caught:
        open_gate(probe, timeout_s=2, clock=FakeClock())

    assert str(caught.value) == (
        "gate not ready within 2 s, last seen: "
        "connection refused: an agent cannot (a-spec): what was found"
    )


def test_what_the_cluster_cannot_run_does_not_keep_the_gate_shut() -> None:
    probe, _ = _rounds((*HELD, result_of(Cause.NOT_RUNNABLE)))

    assert open_gate(probe, timeout_s=2, clock=FakeClock()).rounds == 3


@pytest.mark.parametrize("results", [(), (result_of(Cause.NOT_RUNNABLE),)])
def test_a_gate_of_which_no_case_can_be_judged_never_opens(
    results: tuple[CaseResult, ...],
) -> None:
    probe, _ = _rounds(results)

    with pytest.raises(SpecError) as caught:
        open_gate(probe, timeout_s=2, clock=FakeClock())

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


def test_every_cause_is_the_gates_when_it_stands_alone() -> None:
    alone = {cause: cause_of((result_of(cause),)) for cause in Cause}

    assert alone == {cause: None if cause is Cause.NOT_RUNNABLE else cause for cause in Cause}


def test_an_explanation_names_two_cases_and_counts_the_others() -> None:
    results = (
        *(result_of(Cause.TLS, case=name) for name in ("one", "two", "three")),
        result_of(Cause.CONTROL_REFUSED, case="four"),
        result_of(case="five"),
    )

    assert explain(results) == (
        "TLS/CA: one (a-spec): what was found; two (a-spec): what was found; and 2 more of 5"
    )
    assert explain(HELD) == "1 cases held"
