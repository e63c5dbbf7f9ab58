"""Work that a story has done: a run asked for or resumed, waited for, or interrupted.

Called by `acts`; how a wait is broken is `interruptions`' to know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.bench.story.calls import Eyes, Object, Target, refuse_end
from harness.bench.story.interruptions import interrupt
from harness.bench.story.stage import Client
from harness.errors import ClusterError
from harness.kube.resources import LAB_RUNS, LAB_TASKS, Resource
from harness.model.verbs import Interruption, ResumeAct, RunAct

Witness = dict[str, Any]

#: States of a run after which it can be resumed, or never.
_RESUMABLE_OR_OVER = frozenset({"failed", "completed", "aborted"})


def start_run(asked: RunAct, by: str, eyes: Eyes) -> Witness:
    """Ask for a run as somebody, have it go as the story says, and return the witness."""
    client = eyes.stage.client_as(by)
    steps = [step.model_dump(mode="json", exclude_defaults=True) for step in asked.steps]
    spec: Object = {"environment": "simulation", "steps": steps}
    if asked.supersedes:
        spec["supersedes"] = asked.supersedes
    labels = {"labels": dict(asked.labels)} if asked.labels else {}
    manifest = manifest_of(LAB_RUNS, asked.name, eyes, metadata=labels, spec=spec)

    def start() -> Object:
        return client.create(LAB_RUNS, manifest, namespace=eyes.stage.namespace)

    return _have_done(asked, asked.name, start, steps, eyes=eyes, client=client)


def resume_run(asked: ResumeAct, by: str, eyes: Eyes) -> Witness:
    """Resume a run as somebody, have it go as the story says, and return the witness."""
    client = eyes.stage.client_as(by)
    spec = _resumable(eyes, asked.run)["spec"]
    patch = {"spec": {"resumeCount": int(spec.get("resumeCount", 0)) + 1}}

    def start() -> Object:
        return client.patch(LAB_RUNS, asked.run, patch, namespace=eyes.stage.namespace)

    left = [
        step
        for step in spec["steps"]
        if eyes.status(f"{asked.run}-{step['id']}").get("state") != "succeeded"
    ]
    return _have_done(asked, asked.run, start, left, eyes=eyes, client=client)


def _have_done(
    asked: RunAct | ResumeAct,
    run: str,
    start: Callable[[], Object],
    steps: Sequence[Mapping[str, Any]],
    *,
    eyes: Eyes,
    client: Client,
) -> Witness:
    """Make the request and wait for what is asked; the witness names objects by their UIDs."""
    facts: Witness = {}
    if asked.interrupt:
        target = _target(asked.interrupt, run, steps, eyes)
        facts = interrupt(asked.interrupt, target, start, eyes=eyes, operator=client)
    else:
        start()
        match asked.until or "completed":
            case "completed":
                await_state(eyes, run, "completed")
            case "stranded":
                await_state(eyes, run, "intervention_required")
            case "running":
                held = _held(eyes, run)
                facts = {"requestId": held["requestId"], "acceptedAt": held["at"]}
            case _:
                pass
    return {"run": run, "uids": uids_of(run, eyes), **facts}


def await_state(eyes: Eyes, run: str, wanted: str) -> None:
    """Wait until a run is in a state.

    Raises:
        ClusterError: It ended in another one.
    """

    def state() -> str:
        found = eyes.run(run)
        seen = str(found.get("status", {}).get("state", ""))
        if seen != wanted:
            refuse_end(found)
        return seen

    eyes.until(state, lambda seen: seen == wanted, f"run {run} {wanted}")


def _held(eyes: Eyes, run: str) -> Object:
    """Wait until an instrument has a call of a run in hand, and return its entry."""

    def entry() -> Object | None:
        asked = eyes.run(run)  # first: what it led to before its end is there to be seen
        for task in eyes.all_of(LAB_TASKS):
            status = task.get("status", {})
            if task["spec"]["run"] == run and status.get("state") == "running":
                request_id = status["dispatches"][-1]["requestId"]
                taken = [one for one in eyes.entries(request_id) if one["event"] == "accepted"]
                if taken:
                    return taken[0]
        refuse_end(asked)
        return None

    return eyes.some(entry, f"call of run {run} at an instrument")


def _resumable(eyes: Eyes, run: str) -> Object:
    """Wait until a run can be resumed, or never can be any more, and return it."""
    return eyes.until(
        lambda: eyes.run(run),
        lambda seen: seen.get("status", {}).get("state") in _RESUMABLE_OR_OVER,
        f"run {run} failed",
    )


def _target(how: Interruption, run: str, steps: Sequence[Mapping[str, Any]], eyes: Eyes) -> Target:
    for step in steps:
        if step["id"] == how.step or (
            how.step is None and eyes.capability(step["capability"])["acts"]
        ):
            before = len(eyes.dispatches(f"{run}-{step['id']}"))
            return Target(run=run, step=step, before=before)
    msg = f"story: run {run} has no step {how.step or 'that acts'}, so nothing is interrupted"
    raise ClusterError(msg, hint="name a step of the run that is still to be done")


def manifest_of(resource: Resource, name: str, eyes: Eyes, **rest: Any) -> Object:
    """Return a new object of the laboratory. Pure."""
    metadata = {"name": name, "namespace": eyes.stage.namespace, **rest.pop("metadata", {})}
    kind = {"apiVersion": resource.api_version, "kind": resource.kind}
    return {**kind, "metadata": metadata, **rest}


def uids_of(run: str, eyes: Eyes) -> dict[str, str]:
    """Return the UIDs of a run and of its tasks, by name."""
    tasks = [item for item in eyes.all_of(LAB_TASKS) if item["spec"]["run"] == run]
    ours = [eyes.run(run), *tasks]
    return {item["metadata"]["name"]: item["metadata"]["uid"] for item in ours}
