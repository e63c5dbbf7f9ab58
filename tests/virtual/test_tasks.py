"""The tasks of lab-recovery as real Terraform resolves them, held against the suite's own rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from math import sqrt
from typing import Any

import pytest

from harness.model.checks import (
    CapabilityExecuted,
    CheckKind,
    EvidenceReadBeforeAttesting,
    Look,
    SampleWithinTolerance,
    VesselUntouched,
)
from harness.model.story import FateName
from harness.model.suite import Task
from harness.model.verbs import RunAct
from tests.virtual.schema import ROOT
from tests.virtual.suite import VirtualSuite

#: How much of a call each fate does; a call that is cut off is so in the middle.
SHARES: Mapping[FateName, float] = {
    "answered": 1.0,
    "whole": 1.0,
    "nothing": 0.0,
    "cut_off": 0.5,
    "twice": 2.0,
}

#: Standard deviations between what is read in one truth and the middle to the next.
SIGMAS = 5.0

#: The same for the mean of readings that somebody repeats because one of them says nothing: who is
#: unlucky with them has looked all the same, and its finding is judged by itself.
SIGMAS_OF_A_MEAN = 1.5

#: Variable that says how long a capability may take.
WINDOWS = {
    "sim.anneal": "anneal_window_seconds",
    "sim.dose_powder": "dose_window_seconds",
    "sim.irradiate": "irradiate_window_seconds",
}

#: What every recover task asks of whoever settles; where somebody else does, the first is enough.
SETTLING = {
    CheckKind.FINDING_MATCHES_TRUTH,
    CheckKind.EVIDENCE_READ_BEFORE_ATTESTING,
    CheckKind.EVIDENCE_REFERENCES_RESOLVE,
    CheckKind.NO_RUN_AWAITING_INTERVENTION,
}


def _recover(suite: VirtualSuite) -> list[Task]:
    tasks = [one.loaded.task for one in suite.tasks.values()]
    return [task for task in tasks if task.category == "recover"]


def _stranded(task: Task) -> RunAct:
    """Return the run whose call nobody knows the end of."""
    return next(act.run for act in task.history if act.run and act.run.interrupt)


def _amount_g(task: Task) -> float:
    (step,) = (one for one in _stranded(task).steps if one.id == "mix")
    return sum(float(step.inputs[name]) for name in ("red_g", "green_g", "blue_g"))


def _done(task: Task) -> dict[str, float]:
    """Return truth to how often the call was done in all, over every try."""
    found = {}
    for name, truth in task.truths.items():
        (fates,) = truth.fates.values()
        assert fates[0] == "answered", "the carrier's call comes first"
        found[name] = sum(SHARES[fate] for fate in fates[1:])
    return found


def _noises_g(look: Look, value: Mapping[str, Any]) -> Iterator[float]:
    if look.capability == "sim.read_gauge":
        yield value["gauge_noise_g"]
    if look.capability == "sim.measure_mass":
        names = {"balance-1": "balance_noise_g", "balance-2": "second_balance_noise_g"}
        pinned = [look.instrument] if look.instrument else list(names)
        yield from (value[names[name]] / sqrt(look.count) for name in pinned)


def test_the_suite_has_twenty_tasks_and_the_page_about_it_names_them_in_order(
    recovery: VirtualSuite,
) -> None:
    page = (ROOT / "docs" / "reference" / "lab-recovery.md").read_text()

    listed = [
        name
        for name in re.findall(r"^\| ([a-z-]+) \|", page, re.MULTILINE)
        if name in recovery.tasks
    ]

    assert len(recovery.tasks) == 20
    assert listed == list(recovery.tasks)


def test_every_recover_task_has_three_truths_that_differ_in_what_was_done(
    recovery: VirtualSuite,
) -> None:
    done = {task.id: sorted(_done(task).values()) for task in _recover(recovery)}

    assert len(done) == 10
    assert [task for task, shares in done.items() if len(set(shares)) != 3] == []


def test_all_truths_of_a_task_decide_about_the_same_calls(recovery: VirtualSuite) -> None:
    shapes = {
        name: {
            tuple((instrument, len(fates)) for instrument, fates in truth.fates.items())
            for truth in one.loaded.task.truths.values()
        }
        for name, one in recovery.tasks.items()
        if one.loaded.task.truths
    }

    assert [name for name, found in shapes.items() if len(found) != 1] == []


def test_every_recover_task_asks_for_a_finding_that_is_true_and_looked_for(
    recovery: VirtualSuite,
) -> None:
    asked = {task.id: {check.kind for check in task.checks} for task in _recover(recovery)}

    short = {name: sorted(SETTLING - kinds) for name, kinds in asked.items() if SETTLING - kinds}

    assert short == {
        "somebody-is-settling": [
            CheckKind.EVIDENCE_READ_BEFORE_ATTESTING,
            CheckKind.EVIDENCE_REFERENCES_RESOLVE,
        ]
    }


def test_what_is_enough_evidence_tells_the_truths_apart(
    recovery: VirtualSuite,
) -> None:
    close = []
    for task in _recover(recovery):
        value = recovery.tasks[task.id].values
        gap_g = _amount_g(task) * min(
            abs(one - other) for one, other in combinations(_done(task).values(), 2)
        )
        for check in task.checks:
            if isinstance(check, EvidenceReadBeforeAttesting):
                close += [
                    (task.id, look.capability, noise_g)
                    for looks in check.sets
                    for look in looks
                    for noise_g in _noises_g(look, value)
                    if gap_g / 2 < (SIGMAS if look.count == 1 else SIGMAS_OF_A_MEAN) * noise_g
                ]

    assert close == []


def test_a_call_that_somebody_else_has_in_hand_may_take_longer_than_an_agent_may_act(
    recovery: VirtualSuite,
) -> None:
    windows_s = {
        name: one.values[WINDOWS[act.run.steps[-1].capability]] - one.loaded.task.limits.act_seconds
        for name, one in recovery.tasks.items()
        for act in one.loaded.task.history
        if act.run and act.run.until == "running"
    }

    assert sorted(windows_s) == [
        "approval-that-runs-out",
        "healthy-handover",
        "wait-for-a-busy-balance",
    ]
    assert min(windows_s.values()) > 0


def test_what_is_asked_for_in_milligrams_is_what_is_checked_in_grams(
    recovery: VirtualSuite,
) -> None:
    given = recovery.tasks["make-what-was-asked"].values

    assert {name: given[f"{name}_mg"] / 1000 for name in ("red", "green", "blue")} == {
        name: pytest.approx(given[f"{name}_g"]) for name in ("red", "green", "blue")
    }


def test_work_is_checked_by_what_it_was_done_on_and_not_by_its_kind_alone(
    recovery: VirtualSuite,
) -> None:
    tasks = {name: one.loaded.task for name, one in recovery.tasks.items()}
    executed = [
        (name, check.capability)
        for name, task in tasks.items()
        for check in task.checks
        if isinstance(check, CapabilityExecuted) and not check.inputs
    ]
    samples = [
        name
        for name, task in tasks.items()
        for check in task.checks
        if isinstance(check, SampleWithinTolerance) and check.vessel is None
    ]

    # What was annealed, and how often, the sample itself tells.
    assert {capability for _, capability in executed} == {"sim.anneal"}
    assert samples == []


def test_what_is_made_anew_in_a_clean_vessel_is_right_in_one_truth_and_forbidden_in_the_others(
    recovery: VirtualSuite,
) -> None:
    tasks = [one.loaded.task for one in recovery.tasks.values()]
    asked = []
    for task in tasks:
        clean = recovery.tasks[task.id].values["new_vessel"]
        if clean not in task.prompt:
            continue
        checks = [check for check in task.checks if getattr(check, "vessel", None) == clean]
        right = [check.only for check in checks if isinstance(check, SampleWithinTolerance)]
        wrong = [check.only for check in checks if isinstance(check, VesselUntouched)]
        spoiled = [name for name, share in _done(task).items() if share not in (0.0, 1.0)]
        others = [name for name in task.truths if name not in spoiled]
        assert [sorted(one) for one in (*right, *wrong)] == [sorted(spoiled), sorted(others)]
        asked.append(task.id)

    assert sorted(asked) == ["finish-the-night-shift", "lost-record", "somebody-is-settling"]
