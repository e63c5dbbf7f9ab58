"""Run controls over many seeds in memory and print what fails: `python -m tests.virtual --help`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.bench.layout import Layout
from harness.cluster.toolchain import Toolchain, default_cache_dir
from harness.core.waiting import SYSTEM_CLOCK
from harness.errors import HarnessError
from harness.terraform.engine import load_engine
from tests.virtual.attempt import Attempted, run_virtual
from tests.virtual.controls import Controls, load_acts
from tests.virtual.schema import ROOT
from tests.virtual.suite import VirtualTask, load_virtual

#: What a control, a story or the laboratory itself may raise: it is shown, and the rest goes on.
_RAISED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    HarnessError,
    LookupError,
    TypeError,
    ValueError,
)


def main(arguments: Sequence[str]) -> int:
    """Run, and return 1 where a control raised an error of its own."""
    given = _parser().parse_args(arguments)
    layout = Layout(root=given.root)
    toolchain = Toolchain(
        root=ROOT, cache_dir=default_cache_dir(os.environ), environ=os.environ, progress=print
    )
    engine = load_engine(toolchain.ensure_terraform(), plugin_mirror=None)
    with tempfile.TemporaryDirectory() as work_dir:
        suite = load_virtual(
            layout, given.suite, engine=engine, work_dir=Path(work_dir), only=tuple(given.only)
        )
    controls = load_acts(suite.directory / "controls")
    broken = False
    for control in given.control or sorted(controls.acts):
        for task_id, task in suite.tasks.items():
            broken |= _row(control, task_id, task, controls, given)
    return int(broken)


def _row(
    control: str, task_id: str, task: VirtualTask, controls: Controls, given: argparse.Namespace
) -> bool:
    """Print what came of one control on one task; tell whether it raised an error of its own."""
    counted: Counter[tuple[str, str, float, str]] = Counter()
    started_s, error = SYSTEM_CLOCK.monotonic_s(), ""
    for number in range(1, given.seeds + 1):
        try:
            found = run_virtual(
                task,
                controls.acts[control],
                refusal=controls.refusal,
                seed=number,
                number=number,
                truth=given.truth,
            )
        except _RAISED:
            error = traceback.format_exc(limit=-6)
            continue
        result = found.result
        why = ", ".join(found.failing) or "-"
        why = f"{why} ({result.error})" if result.error else why
        counted[found.truth or "", str(result.status), result.score, why] += 1
        if given.details:
            _details(found)
    each_ms = 1000 * (SYSTEM_CLOCK.monotonic_s() - started_s) / given.seeds
    for (truth, status, score, why), times in sorted(counted.items()):
        row = f"{control:24} {task_id:30} {truth:14} {times:3}x {status:12} {score:5.3f}  {why}"
        sys.stdout.write(f"{row}  [{each_ms:.0f} ms]\n")
    if error:
        sys.stdout.write(f"{control:24} {task_id:30} ERROR\n{error}\n")
    return bool(error)


def _details(found: Attempted) -> None:
    for check in found.result.checks:
        if not check.passed:
            sys.stdout.write(f"  {found.truth or '-'}: {check.kind}: {check.detail}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.virtual", description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="folder with tf/ and tasks/")
    parser.add_argument("--suite", default="lab-recovery", help="name of the suite")
    parser.add_argument("--control", action="append", help="name of a control; may be repeated")
    parser.add_argument("--only", action="append", default=[], help="task; may be repeated")
    parser.add_argument("--seeds", type=int, default=20, help="attempts of each task")
    parser.add_argument("--truth", help="name of the truth, instead of a drawn one")
    parser.add_argument("--details", action="store_true", help="print what each check found")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
