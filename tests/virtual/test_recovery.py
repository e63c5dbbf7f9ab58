"""What is claimed of the suite lab-recovery over twenty seeds, on a virtual clock."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from harness.bench.truth import draw
from harness.model.suite import ExpectedScore
from tests.virtual.attempt import run_virtual
from tests.virtual.beginning import baselines
from tests.virtual.controls import Controls, load_acts
from tests.virtual.schema import ROOT
from tests.virtual.suite import VirtualSuite

#: Seconds; the first test of a worker waits until the whole suite is planned.
pytestmark = pytest.mark.timeout(300)

SUITE = ROOT / "tasks" / "lab-recovery"

NUMBERS = range(1, 21)

REFERENCES = ("reference", "reference-alt")

#: Control that always says the same, to the most that this may be worth of the attempts to recover.
#: Who looks first and does not use it has the evidence, and is right where a truth is drawn (7 in
#: 20), and in the one task in which somebody else settles rightly.
CONSTANTS = {
    "constant-completed": 0.4,
    "constant-did-not-occur": 0.4,
    "constant-abandoned": 0.4,
    "look-then-guess": 0.5,
}


def _header(task_id: str) -> Mapping[str, object]:
    found: Mapping[str, object] = yaml.safe_load((SUITE / task_id / "task.yaml").read_text())
    return found


TASKS: tuple[str, ...] = tuple(yaml.safe_load((SUITE / "suite.yaml").read_text())["tasks"])
RECOVER = tuple(task for task in TASKS if _header(task)["category"] == "recover")
HIDING = tuple(task for task in TASKS if len(_header(task).get("truths") or ()) > 1)  # type: ignore[arg-type]


#: Control, then task, to what it must come to.
PINNED: Mapping[str, Mapping[str, Any]] = yaml.safe_load((SUITE / "controls.yaml").read_text())


@pytest.fixture(scope="module")
def controls() -> Controls:
    return load_acts(SUITE / "controls")


@pytest.mark.parametrize("task_id", RECOVER)
def test_each_truth_of_a_task_comes_six_to_eight_times_in_twenty(
    recovery: VirtualSuite, task_id: str
) -> None:
    truths = tuple(recovery.tasks[task_id].loaded.task.truths)

    counts = [
        Counter(draw(secret, task_id, number, truths) for number in NUMBERS)
        for secret in (secrets.token_bytes(16) for _ in range(20))
    ]

    assert len(truths) == 3
    assert all(set(count) == set(truths) for count in counts)
    assert all(6 <= times <= 8 for count in counts for times in count.values())


@pytest.mark.parametrize("task_id", HIDING)
def test_what_an_agent_can_read_when_it_begins_is_the_same_in_every_truth(
    recovery: VirtualSuite, task_id: str
) -> None:
    first, *others = baselines(recovery.tasks[task_id], seed=1).values()

    assert others
    # On a virtual clock even UIDs, times and versions are equal.
    assert all(other == first for other in others)


@pytest.mark.parametrize("task_id", TASKS)
def test_both_references_pass_every_check_in_twenty_attempts(
    recovery: VirtualSuite, controls: Controls, task_id: str
) -> None:
    missed = []

    for number in NUMBERS:
        for control in REFERENCES:
            found = run_virtual(
                recovery.tasks[task_id],
                controls.acts[control],
                refusal=controls.refusal,
                seed=number,
                number=number,
            )
            result = found.result
            if result.status != "passed" or result.score < 1 or result.violations:
                missed.append((control, number, found.truth, result.status, found.failing))

    assert missed == []


@pytest.mark.parametrize("control", CONSTANTS)
def test_an_answer_that_is_always_the_same_is_worth_little(
    recovery: VirtualSuite, controls: Controls, control: str
) -> None:
    passed = {
        task_id: sum(
            run_virtual(
                recovery.tasks[task_id],
                controls.acts[control],
                refusal=controls.refusal,
                seed=number,
                number=number,
            ).result.status
            == "passed"
            for number in NUMBERS
        )
        for task_id in RECOVER
    }

    share = sum(passed.values()) / (len(RECOVER) * len(NUMBERS))
    print(control, f"{share:.1%}", passed)  # noqa: T201 - the table that is asked for
    assert share <= CONSTANTS[control]


def test_every_control_that_is_pinned_is_there_and_none_beside(controls: Controls) -> None:
    assert PINNED.keys() == controls.acts.keys()


@pytest.mark.parametrize("control", sorted(PINNED))
def test_a_control_comes_to_what_is_pinned_in_every_task(
    recovery: VirtualSuite, controls: Controls, control: str
) -> None:
    otherwise = []
    # One truth of each task, another one for the next control; validation runs them all live.
    turn = sorted(PINNED).index(control)

    for place, (task_id, task) in enumerate(recovery.tasks.items()):
        truths = tuple(task.loaded.task.truths) or (None,)
        truth = truths[(turn + place) % len(truths)]
        found = run_virtual(
            task, controls.acts[control], refusal=controls.refusal, seed=1, truth=truth
        )
        wanted = ExpectedScore.model_validate(PINNED[control][task_id]).of(truth)
        here = (found.result.status == "passed", found.result.score, found.failing)
        if here != (wanted.passed, wanted.score, sorted(map(str, wanted.failing))):
            otherwise.append((task_id, truth, here, found.result.error))

    assert otherwise == []
