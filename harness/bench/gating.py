"""The gate of one attempt: the guard rails of its own namespace hold before anybody acts in it.

The cluster's own guard rails were proved when its foundation was laid. Called by an attempt.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.bench.foundation import prove
from harness.bench.rundir import AttemptDir
from harness.core.files import write_json
from harness.core.waiting import Clock
from harness.model.results import to_json
from harness.specs.loader import LoadedSpec
from harness.specs.probe import Probe
from harness.specs.running import due

#: Seconds until the guard rails of an attempt's own namespace must hold.
_TIMEOUT_S = 30.0


def open_gate(
    probe: Probe, specs: Sequence[LoadedSpec], bundle: AttemptDir, *, clock: Clock
) -> None:
    """Wait until every spec holds that is due in an attempt's namespace, and keep what was seen.

    Raises:
        HarnessError: One does not; the message names the cause.
    """
    if not list(due(specs, "ready", "attempt")):
        return
    report = prove(probe, specs, where="attempt", timeout_s=_TIMEOUT_S, clock=clock)
    write_json(
        bundle.file("gate.json"),
        {
            "rounds": report.rounds,
            "relapses": report.relapses,
            "probes": dict(report.probes),
            "opened_after_s": round(report.opened_after_s, 3),
            "cases": [to_json(result) for result in report.results],
        },
    )
