"""Whether an attempt in memory came to what the same one came to on a cluster.

`python -m tests.virtual.compare RUN` makes each attempt of a control again, of a run or of a
validation that has ended, with its seed and its truth, and prints where the two differ.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.bench.layout import Layout
from harness.cluster.toolchain import Toolchain, default_cache_dir
from harness.grading.bundle import load_evidence
from harness.grading.scoring import grade
from harness.model.evidence import Evidence
from harness.terraform.engine import load_engine
from tests.virtual.attempt import run_virtual
from tests.virtual.controls import Controls, load_acts
from tests.virtual.schema import ROOT
from tests.virtual.suite import VirtualSuite, load_virtual


def compare(live: Evidence, virtual: Evidence) -> list[str]:
    """Return one line for each thing that the two are graded differently in. Pure.

    Refusals are left out: who comes first in a race with a colleague is chance on a cluster, and a
    lost race is refused.
    """
    return list(_differences(live, virtual))


def _differences(live: Evidence, virtual: Evidence) -> Iterator[str]:
    ours, theirs = grade(virtual, "virtual"), grade(live, "live")
    if ours.status != theirs.status:
        yield f"status: live {theirs.status} ({theirs.error}), virtual {ours.status} ({ours.error})"
    asked = [
        [(check.kind, check.description) for check in result.checks] for result in (theirs, ours)
    ]
    if asked[0] != asked[1]:
        yield f"checks: live {len(asked[0])}, virtual {len(asked[1])}, and not the same ones"
        return
    for one, other in zip(theirs.checks, ours.checks, strict=True):
        if one.passed != other.passed:
            there, here = f"{one.passed} ({one.detail})", f"{other.passed} ({other.detail})"
            yield f"{one.kind}: live {there}, virtual {here}"
        if one.held_at_baseline != other.held_at_baseline:
            held = f"live {one.held_at_baseline}, virtual {other.held_at_baseline}"
            yield f"{one.kind} at baseline: {held}"
    if ours.score != theirs.score:
        yield f"score: live {theirs.score}, virtual {ours.score}"


def again(live: Evidence, suite: VirtualSuite, control: str, controls: Controls) -> Evidence:
    """Make an attempt of a control again in memory, with its seed and its truth."""
    attempt = live.attempt
    return run_virtual(
        suite.tasks[attempt.task_id],
        controls.acts[control],
        refusal=controls.refusal,
        seed=attempt.seed,
        number=attempt.number,
        truth=live.truth.get("drawn"),
    ).evidence


def main(arguments: Sequence[str]) -> int:
    """Compare every attempt of a run, and return 1 where one differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.virtual.compare", description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a finished run of a control")
    parser.add_argument("--control", default="reference", help="the control that ran")
    parser.add_argument("--suite", default="lab-recovery", help="name of the suite")
    given = parser.parse_args(arguments)
    # Of a validation each folder is named CONTROL.TASK, of a run TASK.
    found = [
        (path.parent.name.rpartition(".")[0] or given.control, load_evidence(path)[0])
        for path in sorted((given.run / "attempts").glob("*/*"))
    ]
    if not found:
        sys.stderr.write(f"{given.run}: no attempts in it\n")
        return 2
    toolchain = Toolchain(
        root=ROOT, cache_dir=default_cache_dir(os.environ), environ=os.environ, progress=print
    )
    engine = load_engine(toolchain.ensure_terraform(), plugin_mirror=None)
    with tempfile.TemporaryDirectory() as work_dir:
        suite = load_virtual(
            Layout(root=ROOT),
            given.suite,
            engine=engine,
            work_dir=Path(work_dir),
            only=tuple(dict.fromkeys(live.attempt.task_id for _, live in found)),
        )
    controls = load_acts(suite.directory / "controls")
    differing = 0
    for control, live in found:
        lines = compare(live, again(live, suite, control, controls))
        differing += bool(lines)
        task = f"{live.attempt.task_id}#{live.attempt.number}"
        where = f"{control} on {task} ({live.truth.get('drawn')})"
        sys.stdout.write(f"{where}: {'; '.join(lines) or 'the same'}\n")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
