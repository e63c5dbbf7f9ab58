"""Having work done: runs from start to rest, resumed, done anew; notes and attestations.

Everything goes through `Lab`; nothing here knows a task or decides what is right.
"""

from __future__ import annotations

from typing import Any

from lab import Lab, Object

_API_VERSION = "lab.strandline.dev/v1alpha1"

#: States in which a run stays until somebody does something.
RESTING = frozenset({"completed", "failed", "aborted", "intervention_required"})

STRANDED = "intervention_required"


def manifest(kind: str, name: str, spec: Object) -> Object:
    """Return an object of the laboratory."""
    return {"apiVersion": _API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def step(name: str, capability: str, instrument: str | None = None, **inputs: Any) -> Object:
    """Return one step of a run."""
    pinned = {"instrument": instrument} if instrument else {}
    return {"id": name, "capability": capability, "inputs": inputs, **pinned}


def mix(
    name: str, vessel: str, *, red_g: float = 0, green_g: float = 0, blue_g: float = 0
) -> Object:
    """Return the step that puts components into a vessel."""
    amounts = {"red_g": red_g, "green_g": green_g, "blue_g": blue_g}
    return step(name, "sim.mix_components", sample_id=vessel, **amounts)


def run_of(name: str, *steps: Object, supersedes: str | None = None) -> Object:
    """Return a run."""
    replaced = {"supersedes": supersedes} if supersedes else {}
    spec = {"environment": "simulation", "steps": list(steps), **replaced}
    return manifest("LabRun", name, spec)


def state_of(obj: Object | None) -> str:
    """Return the state of a run or a task; blank where there is none yet."""
    return str(((obj or {}).get("status") or {}).get("state", ""))


def rest(lab: Lab, run: str) -> str:
    """Follow a run until it rests, and return its state."""
    return state_of(lab.wait("labruns", run, lambda seen: state_of(seen) in RESTING))


def carry_out(lab: Lab, name: str, *steps: Object, supersedes: str | None = None) -> str:
    """Create a run, follow it until it rests, and return its state."""
    lab.create(run_of(name, *steps, supersedes=supersedes))
    return rest(lab, name)


def outputs_of(lab: Lab, run: str) -> dict[str, Object]:
    """Return what the steps of a run answered, by step."""
    return {
        task["spec"]["step"]: (task.get("status") or {}).get("outputs") or {}
        for task in lab.list("labtasks")
        if task["spec"]["run"] == run
    }


def resume(lab: Lab, run: str) -> str:
    """Resume a failed run, follow it until it rests again, and return its state."""
    found = lab.get("labruns", run) or {}
    count = int(found["spec"].get("resumeCount", 0)) + 1
    lab.patch("labruns", run, {"spec": {"resumeCount": count}})

    def rests_again(seen: Object) -> bool:
        # Until the controller has taken the resume up, the run rests in `failed` as before.
        taken_up = int((seen.get("status") or {}).get("observedResumeCount", 0)) >= count
        return taken_up and state_of(seen) in RESTING

    return state_of(lab.wait("labruns", run, rests_again))


def do_anew(lab: Lab, run: str, vessel: str) -> str:
    """Do a run again from its first step, in another vessel and in its place; return its state."""
    old = lab.get("labruns", run) or {}
    steps = [
        {
            "id": one["id"],
            "capability": one["capability"],
            "inputs": {**one["inputs"], "sample_id": vessel},
        }
        for one in old["spec"]["steps"]
    ]
    return carry_out(lab, f"{run}-anew", *steps, supersedes=run)


def stranded_tasks(lab: Lab) -> list[Object]:
    """Return every task of which nobody knows what became of it."""
    return [task for task in lab.list("labtasks") if state_of(task) == STRANDED]


def next_name(lab: Lab, task: str) -> str:
    """Return the first name for an attestation of a task that is not taken."""
    taken = {one["metadata"]["name"] for one in lab.list("attestations")}
    return next(name for n in range(1, 100) if (name := f"{task}-{n}") not in taken)


def attest(lab: Lab, task: str, finding: str, basis: str, evidence: list[Object]) -> None:
    """Record what was found out about a task, and from what."""
    spec = {"task": task, "finding": finding, "basis": basis, "evidence": evidence}
    lab.create(manifest("Attestation", next_name(lab, task), spec))


def note(lab: Lab, run: str, reason: str, text: str) -> None:
    """Leave word about a run."""
    subject = {"kind": "LabRun", "name": run}
    spec = {"subject": subject, "reason": reason, "text": text}
    lab.create(manifest("Note", f"about-{run}", spec))
