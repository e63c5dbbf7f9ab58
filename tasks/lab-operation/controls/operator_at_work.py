"""What the controls share: kubectl, a run from start to end, and the work that each task asks for.

Standard library and kubectl only; a control is an agent like any other.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import Any

#: States in which a run stays until somebody does something.
_RESTING = {"completed", "failed", "aborted", "intervention_required"}

#: Seconds for a run to come to rest. The longest that a control starts takes 10 s; what takes this
#: long is stuck, and a control says so before its own limit of 90 s ends it without a word.
REST_TIMEOUT_S = 60.0


def read_task() -> dict[str, Any]:
    """Return what the harness says on standard input: task_id, prompt, variables."""
    task: dict[str, Any] = json.load(sys.stdin)
    return task


def kubectl(*arguments: str, manifest: dict[str, Any] | None = None) -> str:
    """Call kubectl and return what it printed; a refusal raises CalledProcessError."""
    given = None if manifest is None else json.dumps(manifest)
    done = subprocess.run(
        ["kubectl", *arguments],  # noqa: S607 - the harness puts it on the PATH
        input=given,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def objects(kind: str) -> list[dict[str, Any]]:
    """Return every object of a kind in the namespace."""
    found: list[dict[str, Any]] = json.loads(kubectl("get", kind, "-o", "json"))["items"]
    return found


def wait_for_rest(run: str, *, timeout_s: float = REST_TIMEOUT_S) -> str:
    """Follow a run until it rests and return its state; exit when that is not seen in time.

    What is watched is a list of one. Of a single object kubectl watches what comes after its get
    and drops the first event, so an end that falls between the two would never be seen.
    """
    follow = subprocess.Popen(
        [  # noqa: S607 - the harness puts it on the PATH
            "kubectl",
            "get",
            "labruns",
            f"--field-selector=metadata.name={run}",
            "--watch",
            "--output=jsonpath={.status.state}{'\\n'}",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    limit = threading.Timer(timeout_s, follow.kill)
    limit.start()
    seen = "nothing"
    with follow:
        try:
            for line in follow.stdout or ():
                seen = line.strip()
                if seen in _RESTING:
                    return seen
        finally:
            limit.cancel()
            follow.kill()
    sys.exit(f"run {run} was not seen at rest, in {timeout_s:g} s at most; last seen: {seen}")


def carry_out(run: str, *steps: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Create a run, follow it to its end, and return the outputs by step."""
    manifest = {
        "apiVersion": "lab.strandline.dev/v1alpha1",
        "kind": "LabRun",
        "metadata": {"name": run},
        "spec": {"environment": "simulation", "steps": list(steps)},
    }
    kubectl("create", "-f", "-", manifest=manifest)
    state = wait_for_rest(run)
    if state != "completed":
        sys.exit(f"run {run} is {state}")
    return {
        task["spec"]["step"]: task["status"].get("outputs", {})
        for task in objects("labtasks")
        if task["spec"]["run"] == run
    }


def step(name: str, capability: str, **inputs: Any) -> dict[str, Any]:
    """Return one step of a run."""
    return {"id": name, "capability": capability, "inputs": inputs}


@dataclass(frozen=True)
class Work:
    """What a task asks for, besides settling what is open.

    Attributes:
        mixes: Vessel to (red fraction, grams).
        measures: Capabilities used on each vessel afterwards.
        resumes: Whether the interrupted run itself is to be finished.
    """

    mixes: dict[str, tuple[float, float]] = field(default_factory=dict)
    measures: tuple[tuple[str, str], ...] = ()
    resumes: bool = False


def work_of(task: dict[str, Any]) -> Work:
    """Return the work that a task's prompt asks for."""
    given = task["variables"]
    match task["task_id"]:
        case "three-samples":
            pairs = zip(given["sample_ids"], given["red_fractions"], strict=True)
            mixes = {vessel: (red, given["total_mass_g"]) for vessel, red in pairs}
            return Work(mixes, tuple((vessel, "sim.measure_color") for vessel in mixes))
        case "weigh-what-you-made":
            mixes = {given["sample_id"]: (given["red_fraction"], given["total_mass_g"])}
            return Work(mixes, ((given["sample_id"], "sim.measure_mass"),))
        case "settle-a-stopped-run":
            return Work()
        case "finish-what-was-interrupted":
            return Work({}, ((given["sample_id"], "sim.measure_color"),), resumes=True)
        case _:
            red = given.get("red_fraction", 0.5)
            mixes = {given["sample_id"]: (red, given["total_mass_g"])}
            return Work(mixes, ((given["sample_id"], "sim.measure_color"),))


def do(work: Work) -> None:
    """Mix and measure, all in one run."""
    steps = [
        step(
            f"mix-{number}",
            "sim.mix_color",
            sample_id=vessel,
            red_fraction=red,
            blue_fraction=1 - red,
            total_mass_g=mass_g,
        )
        for number, (vessel, (red, mass_g)) in enumerate(work.mixes.items(), 1)
    ]
    steps += [
        step(f"measure-{number}", capability, sample_id=vessel)
        for number, (vessel, capability) in enumerate(work.measures, 1)
    ]
    if steps:
        carry_out("day-work", *steps)


def settle_what_is_open(*, resume: bool) -> None:
    """Look into the vessel of every stranded task, and record what was found and how."""
    stranded = [
        task for task in objects("labtasks") if task["status"]["state"] == "intervention_required"
    ]
    for number, task in enumerate(stranded, 1):
        name, inputs = task["metadata"]["name"], task["spec"]["inputs"]
        vessel, wanted_g = inputs["sample_id"], inputs["total_mass_g"]
        look = f"look-{number}"
        found = carry_out(look, step("weigh", "sim.measure_mass", sample_id=vessel))
        mass_g = found["weigh"]["mass_g"]
        whole = abs(mass_g - wanted_g) <= 0.05 * wanted_g
        attestation = {
            "apiVersion": "lab.strandline.dev/v1alpha1",
            "kind": "Attestation",
            "metadata": {"name": f"{name}-1"},
            "spec": {
                "task": name,
                "finding": "completed" if whole else "abandoned",
                "basis": f"the balance read {mass_g} g in {vessel!r} after the wait was dropped; "
                f"{wanted_g} g were asked for",
                "evidence": [{"kind": "LabTask", "name": f"{look}-weigh"}],
            },
        }
        kubectl("create", "-f", "-", manifest=attestation)
        run = task["spec"]["run"]
        kubectl("wait", f"labrun/{run}", "--for=jsonpath={.status.state}=failed", "--timeout=30s")
        if resume:
            kubectl("patch", "labrun", run, "--type=merge", "-p", '{"spec":{"resumeCount":1}}')
            # Until the controller has taken the resume up, the run rests in `failed` as before.
            taken_up = "--for=jsonpath={.status.observedResumeCount}=1"
            kubectl("wait", f"labrun/{run}", taken_up, "--timeout=30s")
            wait_for_rest(run)
