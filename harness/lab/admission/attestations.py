"""What is refused of an Attestation at creation.

Pure. Admitted is not accepted: the controller decides again on what it sees then.
"""

from __future__ import annotations

import re

from harness.lab.admission.request import (
    ALLOWED,
    Decision,
    Request,
    World,
    forbidden,
    invalid,
    name_of,
    spec_of,
    state_of,
)
from harness.model.lab import Finding, TaskState


def decide_create(request: Request, world: World) -> Decision:
    """Decide about a new attestation. Pure."""
    return _statement_problem(request) or _task_problem(request, world) or ALLOWED


def _statement_problem(request: Request) -> Decision | None:
    spec = spec_of(request.new)
    task_name, finding, basis = (spec.get(key) for key in ("task", "finding", "basis"))
    if not isinstance(task_name, str) or not task_name:
        return invalid(f"attestation {request.name!r}: task is missing, expected a task's name")
    if finding not in list(Finding):
        return invalid(
            f"attestation {request.name!r}: finding {str(finding)[:40]!r} is unknown, "
            f"expected one of {', '.join(Finding)}"
        )
    if not isinstance(basis, str) or not re.search(r"\S", basis):
        return invalid(
            f"attestation {request.name!r}: basis is blank, expected how the finding is known"
        )
    if not _is_numbered(request.name, task_name):
        return invalid(
            f"attestation {request.name!r}: the name of an attestation of task {task_name!r} is "
            f"the task's, a hyphen and a number, for example {f'{task_name}-1'!r}"
        )
    return None


def _task_problem(request: Request, world: World) -> Decision | None:
    task_name = spec_of(request.new).get("task")
    task = next((one for one in world.of("LabTask") if name_of(one) == task_name), None)
    if task is None:
        return forbidden(
            f"attestation {request.name!r}: task {task_name!r} is not in namespace "
            f"{request.namespace!r}"
        )
    if state_of(task) != TaskState.INTERVENTION_REQUIRED:
        return forbidden(
            f"attestation {request.name!r}: task {task_name!r} is in {state_of(task)!r}; only a "
            f"task in {TaskState.INTERVENTION_REQUIRED.value!r} can be attested"
        )
    return None


def _is_numbered(name: str, task_name: str) -> bool:
    # Two digits, so that no task can be given more attestations than anybody would read.
    prefix = f"{task_name}-"
    return name.startswith(prefix) and re.fullmatch(r"[1-9][0-9]?", name[len(prefix) :]) is not None
