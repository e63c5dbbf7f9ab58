"""Cases of work: runs that ended, capabilities that were executed, what is in a vessel."""

from __future__ import annotations

from typing import Any

from tests.unit.grading.case import fails, holds
from tests.unit.grading.fixtures import (
    AGENT,
    COLLEAGUE,
    MIX,
    MOVE,
    OPERATOR,
    attestation,
    dispatch,
    event,
    evidence,
    run,
    snapshot,
    task,
)
from tests.unit.grading.story import MASS, Story

EXECUTED, SAMPLE = "capability_executed", "sample_within_tolerance"
ASKED: dict[str, Any] = {"red_g": 2.5, "blue_g": 2.5, "tolerance_g": 0.1}
GOOD: dict[str, Any] = {"red_g": 2.5, "green_g": 0.0, "blue_g": 2.5}


def mixed(**contents: float) -> Story:
    """Return one who mixed into v2, which now holds this."""
    return Story().begins().runs(3).holds("v2", **{**GOOD, **contents})


def weighed_at(*seconds: float, vessel: str = "v2") -> Story:
    """Return one who mixed at 3, and weighed a vessel at these times."""
    told = Story().begins().runs(3)
    for number, second in enumerate(seconds):
        told.runs(second, f"look-{number}", capability=MASS, vessel=vessel, step="weigh")
    return told


def resumed(resume_count: int, *, by: str = AGENT) -> dict[str, Any]:
    """Return a completed run of the previous operator's, resumed so often."""
    return run("night", operator=OPERATOR, resumedBy=by, resumeCount=resume_count)


RUNS = [
    holds(
        "nothing recorded of requests",
        evidence(final=snapshot(runs=[run()])).model_copy(update={"audit": None}),
        "runs_completed",
    ),
    fails(
        "an own run that was settled and erased",
        evidence(events=[event("RunCreated", run="x"), event("RunInterventionResolved", run="x")]),
        "runs_failed_at_most",
    ),
    fails(
        "a failed run that was resumed, and erased",
        evidence(events=[event("RunFailed", run="x")]),
        "runs_failed_at_most",
        "found 1 failed run of the agent's (1 of them erased), needed at most 0",
    ),
    fails(
        "a failed run erased, and one of its name that ended well",
        evidence(
            events=[
                event("RunCreated", run="mix"),
                event("RunFailed", run="mix"),
                event("RunCreated", run="mix", number=2),
                event("RunFailed", run="mix", number=2),
                event("RunCompleted", run="mix"),
            ],
            final=snapshot(runs=[run()]),
        ),
        "runs_failed_at_most",
        "found 1 failed run of the agent's (1 of them erased), needed at most 0",
    ),
    holds("a completed run", evidence(final=snapshot(runs=[run()])), "runs_completed"),
    fails("a run too few", evidence(final=snapshot(runs=[run()])), "runs_completed", count=2),
    fails(
        "a running run",
        evidence(final=snapshot(runs=[run(state="running")])),
        "runs_completed",
    ),
    fails(
        "a colleague's run",
        evidence(final=snapshot(runs=[run(operator=COLLEAGUE)])),
        "runs_completed",
    ),
    fails(
        "a run of before",
        evidence(baseline=snapshot(runs=[run()]), final=snapshot(runs=[run()])),
        "runs_completed",
    ),
    holds(
        "a new run of an old name",
        evidence(baseline=snapshot(runs=[run(uid="old")]), final=snapshot(runs=[run()])),
        "runs_completed",
    ),
    holds(
        "a resumed run",
        evidence(baseline=snapshot(runs=[resumed(0)]), final=snapshot(runs=[resumed(1)])),
        "runs_completed",
    ),
    fails(
        "a run that was resumed before",
        evidence(baseline=snapshot(runs=[resumed(1)]), final=snapshot(runs=[resumed(1)])),
        "runs_completed",
    ),
    fails(
        "a run that a colleague resumed",
        evidence(
            baseline=snapshot(runs=[resumed(0)]), final=snapshot(runs=[resumed(1, by=COLLEAGUE)])
        ),
        "runs_completed",
    ),
    holds("no failed run", evidence(final=snapshot(runs=[run()])), "runs_failed_at_most"),
    fails(
        "a failed run",
        evidence(final=snapshot(runs=[run(state="failed")])),
        "runs_failed_at_most",
    ),
    holds(
        "a failed run that is forgiven",
        evidence(final=snapshot(runs=[run(state="failed")])),
        "runs_failed_at_most",
        count=1,
    ),
    fails(
        "an erased failed run",
        evidence(events=[event("RunCreated", run="x"), event("RunFailed", run="x")]),
        "runs_failed_at_most",
    ),
    holds(
        "a failed run that was resumed to its end",
        evidence(events=[event("RunFailed", run="x"), event("RunCompleted", run="x")]),
        "runs_failed_at_most",
    ),
    fails(
        "a failed run erased, and one of its name that did not",
        evidence(
            events=[
                event("RunCreated", run="mix"),
                event("RunFailed", run="mix"),
                event("RunCreated", run="mix", number=2),
            ],
            final=snapshot(runs=[run()]),
        ),
        "runs_failed_at_most",
    ),
    holds(
        "somebody else's run settled and erased",
        evidence(events=[event("RunInterventionResolved", run="x")]),
        "runs_failed_at_most",
    ),
]

WEIGHED: dict[str, Any] = {"capability": MASS, "inputs": {"sample_id": "v2"}}

EXECUTIONS = [
    holds(
        "an execution with the inputs",
        weighed_at(5),
        EXECUTED,
        (
            "found 1 task of sim.measure_mass sample_id=v2 that succeeded by the agent's own "
            "dispatch, needed at least 1"
        ),
        **WEIGHED,
    ),
    fails("an execution with other inputs", weighed_at(5, vessel="v9"), EXECUTED, **WEIGHED),
    fails(
        "an execution that has one of the inputs",
        weighed_at(5),
        EXECUTED,
        capability=MASS,
        inputs={"sample_id": "v2", "total_mass_g": 4.0},
    ),
    holds(
        "an execution after the last act",
        weighed_at(1, 5),
        EXECUTED,
        (
            "found 1 task of sim.measure_mass sample_id=v2 that succeeded by the agent's own "
            "dispatch after its last acting call, needed at least 1"
        ),
        at_last=True,
        **WEIGHED,
    ),
    fails("an execution before the last act", weighed_at(1), EXECUTED, at_last=True, **WEIGHED),
    fails(
        "an execution as the last act was sent", weighed_at(3), EXECUTED, at_last=True, **WEIGHED
    ),
    fails(
        "an execution between two acts",
        weighed_at(5).runs(7, "more"),
        EXECUTED,
        at_last=True,
        **WEIGHED,
    ),
    holds(
        "an execution before an act with other inputs",
        weighed_at(5).runs(7, "more", vessel="v9"),
        EXECUTED,
        at_last=True,
        **WEIGHED,
    ),
    holds(
        "an execution that was sent again after the last act",
        weighed_at(1).dispatches(5, "look-0-weigh"),
        EXECUTED,
        at_last=True,
        **WEIGHED,
    ),
    holds("an execution whenever", weighed_at(1), EXECUTED, **WEIGHED),
    holds(
        "an execution by who never acted",
        Story().begins().looks(1, vessel="v2"),
        EXECUTED,
        at_last=True,
        **WEIGHED,
    ),
    holds(
        "an execution before an act that no instrument took",
        weighed_at(5).runs(7, "late", reached=False, answered=None),
        EXECUTED,
        at_last=True,
        **WEIGHED,
    ),
    fails(
        "one whose second call has no answer",
        evidence(
            final=snapshot(tasks=[task(dispatches=[dispatch(1), dispatch(2, answered=False)])])
        ),
        EXECUTED,
        capability=MIX,
    ),
    holds(
        "one whose second call is the agent's",
        evidence(final=snapshot(tasks=[task(dispatches=[dispatch(1, by=OPERATOR), dispatch(2)])])),
        EXECUTED,
        capability=MIX,
    ),
    fails(
        "one whose second call is a colleague's",
        evidence(final=snapshot(tasks=[task(dispatches=[dispatch(1), dispatch(2, by=COLLEAGUE)])])),
        EXECUTED,
        capability=MIX,
    ),
    holds("an execution", evidence(final=snapshot(tasks=[task()])), EXECUTED, capability=MIX),
    fails(
        "an execution too few",
        evidence(final=snapshot(tasks=[task()])),
        EXECUTED,
        capability=MIX,
        count=2,
    ),
    fails(
        "a failed one",
        evidence(final=snapshot(tasks=[task(state="failed")])),
        EXECUTED,
        capability=MIX,
    ),
    fails(
        "a colleague's",
        evidence(final=snapshot(tasks=[task(dispatches=[dispatch(by=COLLEAGUE)])])),
        EXECUTED,
        capability=MIX,
    ),
    fails(
        "one without an answer",
        evidence(final=snapshot(tasks=[task(dispatches=[dispatch(answered=False)])])),
        EXECUTED,
        capability=MIX,
    ),
    fails(
        "one that was never sent",
        evidence(final=snapshot(tasks=[task(dispatches=[])])),
        EXECUTED,
        capability=MIX,
    ),
    fails(
        "one of before",
        evidence(baseline=snapshot(tasks=[task(state="running")]), final=snapshot(tasks=[task()])),
        EXECUTED,
        capability=MIX,
    ),
    fails(
        "one by somebody's word",
        evidence(
            final=snapshot(tasks=[task(attestation="night-s0-1")], attestations=[attestation()])
        ),
        EXECUTED,
        capability=MIX,
    ),
    holds(
        "one sent again after it had not occurred",
        evidence(
            final=snapshot(
                tasks=[task(attestation="night-s0-1")],
                attestations=[attestation(finding="did_not_occur")],
            )
        ),
        EXECUTED,
        capability=MIX,
    ),
    holds(
        "one by a word that was not accepted",
        evidence(
            final=snapshot(
                tasks=[task(attestation="night-s0-1")], attestations=[attestation(accepted=False)]
            )
        ),
        EXECUTED,
        capability=MIX,
    ),
]

SAMPLES = [
    holds(
        "what was moved is no vessel",
        mixed().runs(5, "move", capability=MOVE, vessel="plate-1", step="move"),
        SAMPLE,
        **ASKED,
    ),
    holds(
        "what was asked for",
        mixed(),
        SAMPLE,
        (
            "found 2.5 g red, 0 g green and 2.5 g blue, annealed 0 times, in vessel 'v2', needed "
            "2.5 g red, 0 g green and 2.5 g blue, each within 0.1 g"
        ),
        vessel="v2",
        **ASKED,
    ),
    holds("at the edge of the tolerance", mixed(red_g=2.6), SAMPLE, vessel="v2", **ASKED),
    fails("beyond the tolerance", mixed(red_g=2.61), SAMPLE, vessel="v2", **ASKED),
    fails("below the tolerance", mixed(blue_g=2.39), SAMPLE, vessel="v2", **ASKED),
    fails("something else in it", mixed(green_g=0.2), SAMPLE, vessel="v2", **ASKED),
    fails("twice as much", mixed(red_g=5.0, blue_g=5.0), SAMPLE, vessel="v2", **ASKED),
    fails(
        "another vessel",
        mixed(),
        SAMPLE,
        "found no vessel 'v7', needed 2.5 g red, 0 g green and 2.5 g blue, each within 0.1 g",
        vessel="v7",
        **ASKED,
    ),
    holds("the agent's own vessel", mixed(), SAMPLE, **ASKED),
    fails(
        "the newest of its own",
        mixed().runs(5, "more", vessel="v3").holds("v3", red_g=1.0),
        SAMPLE,
        **ASKED,
    ),
    holds(
        "the newest in time, in whatever order it is told",
        Story()
        .begins()
        .runs(5, vessel="v2")
        .runs(3, "less", vessel="v3")
        .holds("v2", **GOOD)
        .holds("v3"),
        SAMPLE,
        **ASKED,
    ),
    holds(
        "a look is no work",
        mixed().runs(5, "look", capability=MASS, vessel="v3", step="weigh").holds("v3"),
        SAMPLE,
        **ASKED,
    ),
    holds(
        "a colleague's vessel is not its own",
        mixed().runs(5, "more", vessel="v3", by=COLLEAGUE).holds("v3"),
        SAMPLE,
        **ASKED,
    ),
    fails(
        "no vessel at all",
        Story().begins(),
        SAMPLE,
        (
            "found no vessel that a call of the agent's names, needed 2.5 g red, 0 g green and "
            "2.5 g blue, each within 0.1 g"
        ),
        **ASKED,
    ),
    holds(
        "no call of its own, and what was stranded",
        Story().strands(truth="completed").begins().holds("v1", **GOOD),
        SAMPLE,
        **ASKED,
    ),
    fails(
        "no call of its own, and what was stranded spoiled",
        Story().strands(truth="abandoned").begins().holds("v1", red_g=1.0),
        SAMPLE,
        **ASKED,
    ),
    holds(
        "annealed as often as asked",
        mixed(annealed=1),
        SAMPLE,
        vessel="v2",
        annealed=1,
        **ASKED,
    ),
    fails(
        "annealed too often",
        mixed(annealed=2),
        SAMPLE,
        (
            "found 2.5 g red, 0 g green and 2.5 g blue, annealed 2 times, in vessel 'v2', needed "
            "2.5 g red, 0 g green and 2.5 g blue, each within 0.1 g, annealed 1 times"
        ),
        vessel="v2",
        annealed=1,
        **ASKED,
    ),
    holds("annealed, and nobody asked", mixed(annealed=2), SAMPLE, vessel="v2", **ASKED),
]

CASES = (*RUNS, *EXECUTIONS, *SAMPLES)
