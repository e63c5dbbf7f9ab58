"""Whatever is wrong with a guard rail, the gate stays shut, says what, and opens once repaired."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from benchmarks.gate import run_trials
from harness.cluster.provider import Cluster
from harness.core.waiting import SYSTEM_CLOCK
from harness.errors import WaitTimeoutError
from harness.kube.client import KubeClient
from harness.kube.resources import VALIDATING_WEBHOOKS
from harness.model.spec import Cause, Verdict
from harness.specs.running import run_specs
from harness.specs.streak import PROBES
from tests.integration.specs.gate_world import (
    BY_POLICY,
    BY_WEBHOOK,
    SPECS,
    GateWorld,
    faults,
    gate_world,
)

#: Draws the same shares each time.
SEED = 7

FAULTS = faults(random.Random(SEED))  # noqa: S311 - the same each time

#: Seconds for which the gate tries in vain: some ten rounds; more where it must see that something
#: comes and goes.
SHUT_S = 0.5
FLAPS_S = 1.5

#: Seconds from a repair until the gate is open. A policy that was made again takes the API server
#: up to 1 s, a kind up to 2 s.
OPENS_S = 2.0
SLOW_TO_TAKE_EFFECT = {"kind missing", "policy bound to nothing", "policy missing"}

#: Trials of the benchmark that are made here.
TRIALS = 6


@pytest.fixture(scope="module")
def world(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GateWorld]:
    client = KubeClient.from_kubeconfig(cluster.kubeconfig)
    try:
        with gate_world(client, tmp_path_factory.mktemp("gate")) as made:
            yield made
    finally:
        client.close()


@pytest.mark.parametrize("name", FAULTS)
def test_the_gate_names_what_is_wrong_and_opens_after_the_repair(
    world: GateWorld, name: str
) -> None:
    fault = FAULTS[name]
    shut_s = FLAPS_S if fault.cause is Cause.FLAPPING else SHUT_S
    fault.broken(world)
    world.wait_for(fault.guard, held=False)

    try:
        with pytest.raises(WaitTimeoutError) as caught:
            world.open_gate(fault.guard, timeout_s=shut_s)
    finally:
        began_s = SYSTEM_CLOCK.monotonic_s()
        fault.repaired(world)
    if name in SLOW_TO_TAKE_EFFECT:
        world.wait_for(fault.guard, held=True)
        began_s = SYSTEM_CLOCK.monotonic_s()
    world.open_gate(fault.guard, timeout_s=30)

    assert SYSTEM_CLOCK.monotonic_s() - began_s <= OPENS_S
    assert f"{fault.cause}: the {fault.guard} refuses what is not wanted" in caught.value.message
    assert fault.says in caught.value.message


def test_a_gate_that_is_tried_while_things_break_and_are_repaired_never_opens_too_early(
    world: GateWorld,
) -> None:
    trials = run_trials(world, trials=TRIALS, seed=SEED, say=print)

    assert [trial.fault for trial in trials if trial.false_opening] == []
    assert [trial.fault for trial in trials if trial.lag_s is None] == []
    assert len(trials) == TRIALS


@pytest.mark.parametrize("when", ["after", "swept"])
def test_a_guard_rail_that_went_during_the_work_is_found_by_the_probe_after_it(
    world: GateWorld, when: str
) -> None:
    fault = FAULTS["policy bound to nothing"]
    world.open_gate(BY_POLICY, timeout_s=10)
    fault.broken(world)
    world.wait_for(BY_POLICY, held=False)

    try:
        results = run_specs(
            (SPECS[BY_POLICY],), "after" if when == "after" else "swept", world.probe
        )
    finally:
        fault.repaired(world)
    world.wait_for(BY_POLICY, held=True)

    assert [(one.when, one.verdict) for one in results] == [(when, Verdict.BROKEN)]


def test_a_webhook_that_is_down_during_the_probe_after_the_work_is_unknown_and_not_held(
    world: GateWorld,
) -> None:
    fault = FAULTS["connection refused"]
    fault.broken(world)

    try:
        results = run_specs((SPECS[BY_WEBHOOK],), "after", world.probe)
    finally:
        fault.repaired(world)

    assert [one.verdict for one in results] == [Verdict.UNKNOWN]


def test_a_registration_left_over_from_a_dead_webhook_can_be_deleted_and_keeps_nothing_shut(
    world: GateWorld,
) -> None:
    left_over = world.registration()
    left_over["metadata"]["name"] = "left-over"
    left_over["webhooks"][0]["name"] = "left-over.example.com"
    nowhere = world.trusting("https://127.0.0.1:1/validate")
    left_over["webhooks"][0]["clientConfig"] = nowhere
    world.client.create(VALIDATING_WEBHOOKS, left_over)

    try:
        with pytest.raises(WaitTimeoutError, match="connection refused"):
            world.open_gate(BY_WEBHOOK, timeout_s=SHUT_S)
    finally:
        world.client.delete(VALIDATING_WEBHOOKS, "left-over")

    report = world.open_gate(BY_WEBHOOK, timeout_s=10)
    assert min(report.probes.values()) >= PROBES
