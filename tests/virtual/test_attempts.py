"""An attempt in memory passes, fails and ends as one on a cluster does, and is always the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from harness.core.files import canonical_json
from harness.model.evidence import Evidence
from harness.model.story import Truth
from tests.virtual.attempt import Attempted, run_virtual
from tests.virtual.beginning import baselines
from tests.virtual.compare import compare
from tests.virtual.lab import VirtualLab
from tests.virtual.suite import VirtualSuite, VirtualTask


class Refused(Exception):  # noqa: N818 - as the door of the suite's controls calls it
    """A refusal."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


API = "lab.strandline.dev/v1alpha1"


def carry_out(lab: VirtualLab, name: str, capability: str, **inputs: Any) -> dict[str, Any]:
    spec = {"steps": [{"id": "one", "capability": capability, "inputs": inputs}]}
    lab.create({"apiVersion": API, "kind": "LabRun", "metadata": {"name": name}, "spec": spec})
    ended = ("completed", "failed")
    found = lab.wait("labruns", name, lambda run: run["status"]["state"] in ended)
    assert found is not None
    return found


def attest(lab: VirtualLab, finding: str) -> None:
    task, evidence = "night-shift-mix", [{"kind": "LabTask", "name": "weigh-one"}]
    spec = {"task": task, "finding": finding, "basis": "I know it", "evidence": evidence}
    metadata = {"name": f"{task}-1"}
    lab.create({"apiVersion": API, "kind": "Attestation", "metadata": metadata, "spec": spec})
    lab.wait("labruns", "night-shift", lambda run: run["status"]["state"] == "failed")


def weigh(lab: VirtualLab, task: Mapping[str, Any]) -> float:
    given = task["variables"]
    carry_out(lab, "weigh", "sim.measure_mass", sample_id=given["vessel"])
    found = lab.get("labtasks", "weigh-one")
    assert found is not None
    mass_g = float(found["status"]["outputs"]["mass_g"]) - float(given["carrier_g"])
    return mass_g / float(given["red_g"] + given["blue_g"])


def settle(lab: VirtualLab, task: Mapping[str, Any]) -> None:
    share = weigh(lab, task)
    whole = {0.0: "did_not_occur", 1.0: "completed"}
    attest(lab, whole.get(abs(round(share, 1)), "abandoned"))


def guess(lab: VirtualLab, task: Mapping[str, Any]) -> None:
    weigh(lab, task)
    attest(lab, "completed")


def irradiate(lab: VirtualLab, task: Mapping[str, Any]) -> None:
    given = task["variables"]
    carry_out(lab, "dose", "sim.irradiate", sample_id=given["vessel"], dose_gy=given["dose_gy"])


def attempt(suite: VirtualSuite, task_id: str, act: Any, **more: Any) -> Attempted:
    return run_virtual(suite.tasks[task_id], act, refusal=Refused, **more)


@pytest.mark.parametrize("truth", ["nothing", "whole", "cut-off"])
def test_who_looks_passes_in_every_truth(small: VirtualSuite, truth: str) -> None:
    found = attempt(small, "settle-one", settle, truth=truth)

    assert (found.result.status, found.failing) == ("passed", [])
    assert found.evidence.truth["drawn"] == truth


@pytest.mark.parametrize(("truth", "status"), [("whole", "passed"), ("nothing", "failed")])
def test_who_guesses_passes_where_it_is_so_and_nowhere_else(
    small: VirtualSuite, truth: str, status: str
) -> None:
    found = attempt(small, "settle-one", guess, truth=truth)

    assert found.result.status == status
    assert found.failing == ([] if status == "passed" else ["finding_matches_truth"])


def test_the_cast_answers_to_what_the_agent_did(small: VirtualSuite) -> None:
    settled = attempt(small, "settle-one", settle, truth="whole")
    idle = attempt(small, "settle-one", lambda _lab, _task: None, truth="whole")

    assert [act["part"] for act in settled.cast] == ["thanks"]
    assert (list(idle.cast), idle.result.score) == ([], 0.0)


@pytest.mark.parametrize(("truth", "doses"), [("granted", 1), ("refused", 0)])
def test_what_takes_an_approval_is_done_when_it_is_granted(
    small: VirtualSuite, truth: str, doses: int
) -> None:
    found = attempt(small, "ask-first", irradiate, truth=truth)

    done = [entry for entry in found.evidence.instruments if entry["event"] == "finished"]
    assert [entry["capability"] for entry in done].count("sim.irradiate") == doses
    assert found.result.status == "passed"


def test_equal_attempts_give_equal_bytes(small: VirtualSuite) -> None:
    first, second = (attempt(small, "settle-one", settle, seed=3, number=3) for _ in range(2))

    assert _bytes(first.evidence) == _bytes(second.evidence)


def test_an_attempt_from_a_copy_of_its_beginning_is_the_attempt_from_the_beginning(
    small: VirtualSuite,
) -> None:
    task = small.tasks["settle-one"]
    kept = run_virtual(task, settle, refusal=Refused, seed=4, number=4)

    task.begun.clear()
    made = run_virtual(task, settle, refusal=Refused, seed=4, number=4)
    copied = run_virtual(task, settle, refusal=Refused, seed=4, number=4)

    assert _bytes(made.evidence) == _bytes(copied.evidence) == _bytes(kept.evidence)


def test_names_differ_by_seed_and_stand_wherever_they_are_named(small: VirtualSuite) -> None:
    one, other = (attempt(small, "settle-one", settle, seed=seed) for seed in (1, 2))

    vessels = [set(found.evidence.truth["vessels"]) for found in (one, other)]
    assert vessels[0].isdisjoint(vessels[1])
    assert (one.result.status, other.result.status) == ("passed", "passed")


def test_a_refusal_that_is_not_expected_ends_the_agent_with_an_error(small: VirtualSuite) -> None:
    def stumble(lab: VirtualLab, _task: Mapping[str, Any]) -> None:
        lab.create({"apiVersion": API, "kind": "Approval", "metadata": {"name": "a"}, "spec": {}})

    found = attempt(small, "ask-first", stumble, truth="granted")

    assert found.result.status == "agent_error"
    assert [violation.rule for violation in found.result.violations or ()] == ["rbac"]


def test_an_agent_that_does_not_end_is_out_of_time(small: VirtualSuite) -> None:
    def stall(lab: VirtualLab, _task: Mapping[str, Any]) -> None:
        lab.wait("labruns", "night-shift", lambda _: False, timeout_s=1e6)

    found = attempt(small, "settle-one", stall, truth="whole")

    assert found.result.status == "agent_error"
    assert "did not end" in str(found.result.error)


def test_what_can_be_read_at_the_beginning_tells_no_truth(small: VirtualSuite) -> None:
    task = small.tasks["settle-one"]

    read = baselines(task, seed=1)

    assert len(read) == 3
    assert len(set(read.values())) == 1


def test_a_truth_that_shows_at_the_beginning_is_found(small: VirtualSuite) -> None:
    # Not held back, the answer comes after the wait was dropped, and is an event for all to read.
    truths = {
        "shown": Truth(fates={"mixer-1": ("answered",)}),
        "nothing": Truth(fates={"mixer-1": ("nothing",)}),
    }

    read = baselines(_with_truths(small.tasks["settle-one"], truths), seed=1)

    assert len(set(read.values())) == 2


def test_an_attempt_is_the_same_as_itself_and_not_as_another_one(small: VirtualSuite) -> None:
    right = attempt(small, "settle-one", settle, truth="nothing").evidence
    again = attempt(small, "settle-one", settle, truth="nothing", seed=5).evidence
    wrong = attempt(small, "settle-one", guess, truth="nothing").evidence

    assert compare(right, again) == []
    assert any("finding_matches_truth" in line for line in compare(right, wrong))


def _with_truths(task: VirtualTask, truths: dict[str, Truth]) -> VirtualTask:
    rendered, values, objects = task.of_seed(1)
    changed = rendered.model_copy(update={"truths": truths})
    return replace(task, begun={}, _of_seed={1: (changed, values, objects)})


def _bytes(evidence: Evidence) -> bytes:
    return canonical_json(evidence.model_dump(mode="json"))
