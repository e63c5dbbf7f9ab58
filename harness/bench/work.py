"""Work that a story has done: a run asked for or resumed, waited for, or interrupted.

Called by `acts`; how a wait is broken is `interruptions`' to know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.bench.calls import Eyes, Object, Target
from harness.bench.interruptions import interrupt
from harness.bench.stage import Client
from harness.errors import ClusterError
from harness.kube.resources import LAB_RUNS, LAB_TASKS, Resource
from harness.model.story import Interruption, ResumeAct, RunAct

Witness = dict[str, Any]


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
    spec = eyes.resumable(asked.run)["spec"]
    patch = {"spec": {"resumeCount": int(spec.get("resumeCount", 0)) + 1}}

    def start() -> Object:
        return client.patch(LAB_RUNS, asked.run, patch, namespace=eyes.stage.namespace)

    left = [step for step in spec["steps"] if not _succeeded(eyes, f"{asked.run}-{step['id']}")]
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
                eyes.state(run, "completed")
            case "stranded":
                eyes.state(run, "intervention_required")
            case "running":
                held = eyes.held(run)
                facts = {"requestId": held["requestId"], "acceptedAt": held["at"]}
            case _:
                pass
    return {"run": run, "uids": uids_of(run, eyes), **facts}


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
    client, namespace = eyes.stage.client, eyes.stage.namespace
    tasks = client.list_objects(LAB_TASKS, namespace=namespace)
    ours = [eyes.run(run), *(item for item in tasks if item["spec"]["run"] == run)]
    return {item["metadata"]["name"]: item["metadata"]["uid"] for item in ours}


def _succeeded(eyes: Eyes, task: str) -> bool:
    client, namespace = eyes.stage.client, eyes.stage.namespace
    found = client.find(LAB_TASKS, task, namespace=namespace) or {}
    return bool(found.get("status", {}).get("state") == "succeeded")
