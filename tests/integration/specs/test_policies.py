"""Every guard rail of ours in both directions, on a live cluster."""

from __future__ import annotations

import pytest

from harness.core.waiting import wait_until
from harness.kube.resources import (
    ATTESTATIONS,
    LAB_EVENTS,
    LAB_RUNS,
    LAB_TASKS,
    VALIDATING_POLICY_BINDINGS,
)
from harness.model.spec import CaseResult, Cause, Verdict
from harness.specs.gate import explain, failing, open_gate
from harness.specs.loader import LoadedSpec
from harness.specs.running import run_specs
from tests.integration.specs.conftest import Platform, manifest_of

#: Seconds until a policy is in effect, or out of it: measured up to 1.0 s, more when busy.
POLICY_TIMEOUT_S = 60.0


def _holds(platform: Platform, specs: tuple[LoadedSpec, ...]) -> tuple[CaseResult, ...]:
    report = open_gate(
        lambda marker, probes: run_specs(
            specs, "ready", platform.probe, marker=marker, probes=probes
        ),
        timeout_s=POLICY_TIMEOUT_S,
    )
    return report.results


def _made(platform: Platform) -> list[str]:
    return [
        found["metadata"]["name"]
        for resource in (LAB_RUNS, LAB_TASKS, ATTESTATIONS, LAB_EVENTS)
        for found in platform.client.list_objects(resource, namespace=platform.probe.namespace)
    ]


def test_every_guard_rail_holds_in_the_canary_and_nothing_is_left_there(
    platform: Platform, specs: tuple[LoadedSpec, ...]
) -> None:
    results = _holds(platform, specs)

    assert {result.verdict for result in results} == {Verdict.HELD}, explain(results)
    assert len(results) > 40
    assert _made(platform) == []


@pytest.mark.parametrize("when", ["after", "swept"])
def test_the_guard_rails_hold_at_every_later_time_too(
    platform: Platform, specs: tuple[LoadedSpec, ...], when: str
) -> None:
    _holds(platform, specs)

    results = run_specs(specs, "after" if when == "after" else "swept", platform.probe)

    assert not failing(results), explain(results)
    assert {result.when for result in results} == {when}


def test_the_guard_rails_of_an_attempt_hold_in_a_namespace_of_its_own(
    platform: Platform, specs: tuple[LoadedSpec, ...], laboratory: Platform
) -> None:
    _holds(platform, specs)

    results = run_specs(specs, "ready", laboratory.probe, where="attempt")

    assert not failing(results), explain(results)
    assert {result.namespace for result in results} == {laboratory.probe.namespace}
    assert len(results) > 10
    assert _made(laboratory) == []


@pytest.mark.parametrize(
    "name",
    [
        "run-status-is-the-controllers",
        "tasks-and-events-are-the-controllers",
        "ownership-is-the-harnesses",
    ],
)
def test_a_policy_that_is_not_bound_is_found_out_and_the_gate_opens_after_the_repair(
    platform: Platform, specs: tuple[LoadedSpec, ...], name: str
) -> None:
    own = tuple(loaded for loaded in specs if loaded.name == name)
    binding = platform.client.get(VALIDATING_POLICY_BINDINGS, name)
    _holds(platform, own)
    platform.client.delete(VALIDATING_POLICY_BINDINGS, name)

    try:
        results = wait_until(
            lambda: run_specs(own, "ready", platform.probe),
            lambda found: any(result.verdict is Verdict.BROKEN for result in found),
            what="the effect of its removal",
            timeout_s=POLICY_TIMEOUT_S,
        )
    finally:
        platform.client.create(VALIDATING_POLICY_BINDINGS, manifest_of(binding))

    broken = {result.refuser for result in results if result.verdict is Verdict.BROKEN}
    assert broken == {f"policy:{name}"}
    assert {result.cause for result in failing(results)} == {Cause.NOT_ENFORCED}
    _holds(platform, own)
    assert _made(platform) == []
