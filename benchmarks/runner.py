"""What our runner adds to Terraform: 23 objects applied and destroyed, beside the bare binary.

The bare side is what a person would type, as one shell, in the same environment, with the same
provider from the same mirror: once with `apply -auto-approve`, which the goal is about, and once
with a saved plan, as ours has, which tells the price of that plan from the runner's own. There is
no CRD among the objects: the wait for one would hide what the runner adds. Called by
`python -m benchmarks`.
"""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.figures import Bound, Goal, Part, side_by_side
from benchmarks.measuring import alternating, succeeded
from benchmarks.workbench import STACK_DIR, Workbench
from harness.cluster.provider import Cluster
from harness.core.files import write_json
from harness.core.process import run
from harness.core.waiting import SYSTEM_CLOCK
from harness.terraform.engine import engine_environment
from harness.terraform.stack import Stack

PART = "runner"

#: ConfigMaps of a round; with their namespace 23 objects.
_SETTINGS = 22

#: Seconds for the three commands of the bare side; 5 s on two idle cores.
_TIMEOUT_S = 300.0

#: Printed between two commands of the bare side: nanoseconds since the epoch.
_STAMP = "date +%s%N"

_STEPS = ("init", "apply", "destroy")
_FIVE_PERCENT = Goal(bound=Bound.RATIO_AT_MOST, limit=1.05)


def measure(bench: Workbench) -> Part:
    """Apply and destroy the stack by both, alternating, each time in a namespace of its own."""
    taken: tuple[list[dict[str, float]], ...] = ([], [], [])
    with bench.cluster(PART) as cluster:
        sides: tuple[Callable[[int], dict[str, float]], ...] = (
            lambda number: _ours(bench, cluster, number),
            lambda number: _bare(bench, cluster, number, saved_plan=False),
            lambda number: _bare(bench, cluster, number, saved_plan=True),
        )
        for side in sides:  # what only the first call does is done here
            side(0)
        for index, seconds in alternating(sides, bench.repeats):
            taken[index].append(seconds)
    peer = f"bare {bench.engine.name}"
    names = {"whole_s": "init, apply, destroy", "init_s": "init", "apply_s": "apply"}
    planned = side_by_side(
        PART,
        "init, plan, apply, destroy",
        ours=[seconds["whole_s"] for seconds in taken[0]],
        peer=[seconds["whole_s"] for seconds in taken[2]],
        peer_name=f"{peer}, saved plan",
    )
    return Part(
        figures=(
            *(
                side_by_side(
                    PART,
                    name,
                    ours=[seconds[key] for seconds in taken[0]],
                    peer=[seconds[key] for seconds in taken[1]],
                    peer_name=peer,
                    goal=_FIVE_PERCENT if key == "whole_s" else None,
                )
                for key, name in {**names, "destroy_s": "destroy"}.items()
            ),
            planned,
        )
    )


def _ours(bench: Workbench, cluster: Cluster, number: int) -> dict[str, float]:
    bench.say(f"{PART}: ours, {number} of {bench.repeats}")
    work_dir = bench.folder(f"runner-ours-{number}")
    marks = [SYSTEM_CLOCK.monotonic_s()]
    stack = Stack.create(
        bench.engine,
        stack_dir=STACK_DIR,
        policies_dir=None,
        work_dir=work_dir / "work",
        values=_values("ours", number),
        environment=_environment(bench, cluster, work_dir),
        log_path=work_dir / "terraform.log",
    )
    stack.init()
    marks.append(SYSTEM_CLOCK.monotonic_s())
    stack.apply()
    marks.append(SYSTEM_CLOCK.monotonic_s())
    stack.destroy()
    marks.append(SYSTEM_CLOCK.monotonic_s())
    return _seconds(marks)


def _bare(bench: Workbench, cluster: Cluster, number: int, *, saved_plan: bool) -> dict[str, float]:
    side = "planned" if saved_plan else "bare"
    bench.say(f"{PART}: bare {bench.engine.name}, {side}, {number} of {bench.repeats}")
    work_dir = bench.folder(f"runner-{side}-{number}")
    module_dir = work_dir / "stack"
    environment = _environment(bench, cluster, work_dir)
    began_s = SYSTEM_CLOCK.monotonic_s()
    shutil.copytree(STACK_DIR, module_dir)
    write_json(module_dir / "terraform.tfvars.json", _values(side, number))
    copied_s = SYSTEM_CLOCK.monotonic_s() - began_s
    finished = run(
        ["/bin/sh", "-ec", bare_script(bench.engine.path, saved_plan=saved_plan)],
        env=environment,
        cwd=module_dir,
        timeout_s=_TIMEOUT_S,
    )
    stdout = succeeded(f"bare {bench.engine.name}", finished).stdout
    seconds = _seconds([int(stamp) / 1e9 for stamp in stdout.split()])
    return {**seconds, "whole_s": finished.duration_s + copied_s}


def bare_script(engine: Path, *, saved_plan: bool) -> str:
    """Return what a person would type, with a time stamp before and after each step. Pure."""
    program = shlex.quote(str(engine))

    def command(arguments: str) -> str:
        return f"{program} {arguments} >/dev/null"

    apply = [command("apply -input=false -auto-approve")]
    if saved_plan:
        apply = [
            command("plan -input=false -out=saved.tfplan"),
            command("apply -input=false saved.tfplan"),
        ]
    init, destroy = command("init -input=false"), command("destroy -input=false -auto-approve")
    return "; ".join([_STAMP, init, _STAMP, *apply, _STAMP, destroy, _STAMP])


def _seconds(marks: Iterable[float]) -> dict[str, float]:
    """Return step to seconds, of the times before the first, between and after the last."""
    times = list(marks)
    took = [after - before for before, after in itertools.pairwise(times)]
    steps = {f"{step}_s": seconds for step, seconds in zip(_STEPS, took, strict=True)}
    return {**steps, "whole_s": times[-1] - times[0]}


def _values(side: str, number: int) -> dict[str, Any]:
    return {"namespace": f"bench-{side}-{number}", "settings": _SETTINGS}


def _environment(bench: Workbench, cluster: Cluster, work_dir: Path) -> dict[str, str]:
    return engine_environment(
        bench.engine,
        work_dir=work_dir,
        extra={"KUBE_CONFIG_PATH": str(cluster.kubeconfig)},
        ambient=os.environ,
    )
