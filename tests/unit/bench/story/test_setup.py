"""The broken state of a setup: what the previous operator's run comes to, and its witness."""

from __future__ import annotations

import pytest

from harness.bench.story.history import pause_of_history
from harness.bench.story.setup import acts_of, perform
from harness.errors import ClusterError
from harness.kube.resources import LAB_RUNS, LAB_TASKS
from harness.model.suite import Setup
from tests.unit.bench.story.story_lab import MIX, NAMESPACE, open_lab

CANCELLED = Setup(capability="sim.mix_color", inputs=MIX["inputs"], cancel_after_seconds=0.3)
KILLED = Setup(capability="sim.mix_color", inputs=MIX["inputs"], interrupt="controller_killed")


@pytest.mark.parametrize(
    ("setup", "reason"),
    [(CANCELLED, "execution_cancelled"), (KILLED, "controller_restarted")],
    ids=["cancelled", "killed"],
)
def test_a_setup_leaves_a_stranded_run_and_says_what_was_accepted_and_when_it_was_final(
    setup: Setup, reason: str
) -> None:
    pause = pause_of_history(acts_of(setup))
    laboratory = open_lab(pause=(pause.at, pause.task) if pause else None)

    witness = perform(setup, laboratory, clock=laboratory.clock)

    run = laboratory.client.get(LAB_RUNS, "night-shift", namespace=NAMESPACE)
    task = laboratory.client.get(LAB_TASKS, "night-shift-mix", namespace=NAMESPACE)
    assert (run["status"]["state"], task["status"]["reason"]) == ("intervention_required", reason)
    assert witness["uids"] == {"run": run["metadata"]["uid"], "task": task["metadata"]["uid"]}
    assert witness["requestId"] == f"{task['metadata']['uid']}-1"
    assert witness["acceptedAt"] < witness["truthFinalAt"]
    assert sorted(witness) == ["acceptedAt", "requestId", "truthFinalAt", "uids"]


def test_a_setup_that_the_laboratory_refuses_is_no_state_to_begin_from() -> None:
    laboratory = open_lab(rules=({"id": "none", "effect": "deny"},))

    with pytest.raises(ClusterError, match="run night-shift ended in 'failed'"):
        perform(CANCELLED, laboratory, clock=laboratory.clock)


def test_without_a_setup_nothing_is_done() -> None:
    assert acts_of(None) == ()
