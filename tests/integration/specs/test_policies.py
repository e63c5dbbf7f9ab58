"""Every policy of ours, in both directions, on a live cluster."""

from __future__ import annotations

from harness.core.waiting import SYSTEM_CLOCK
from harness.model.spec import Verdict
from harness.specs.gate import explain, open_gate
from harness.specs.loader import LoadedSpec
from harness.specs.running import run_specs
from tests.integration.specs.conftest import Platform


def test_every_guard_rail_holds_in_the_canary(
    platform: Platform, specs: tuple[LoadedSpec, ...]
) -> None:
    report = open_gate(
        lambda marker: run_specs(specs, "ready", platform.probe, marker=marker), timeout_s=15
    )

    started_s = SYSTEM_CLOCK.monotonic_s()
    results = run_specs(specs, "ready", platform.probe)
    print("full set", SYSTEM_CLOCK.monotonic_s() - started_s, report.rounds, report.opened_after_s)
    for r in results:
        print(r.verdict, r.case, "|", r.detail)

    assert {result.verdict for result in results} == {Verdict.HELD}, explain(results)
