"""What is refused of an Attestation at creation: what is settled, unfounded, or one's own word.

Pure. Admitted is not accepted: the controller decides again on what it sees then.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.lab.admission.limits import too_large
from harness.lab.admission.references import lab_kinds, reference_of
from harness.lab.admission.request import (
    ALLOWED,
    Decision,
    Request,
    World,
    forbidden,
    invalid,
    readable,
    spec_of,
    state_of,
)
from harness.lab.policy import separates_duties
from harness.model.lab import Finding, LabPolicy, TaskState

#: References that are looked up; the schema's own limit.
_REFERENCES_LIMIT = 16


def names_needed(request: Request) -> tuple[tuple[str, str], ...]:
    """Return the task that it is about, and what it rests on. Pure."""
    task = spec_of(request.new).get("task")
    tasks = [("LabTask", task)] if isinstance(task, str) and task else []
    references = [one for one in _references(request) if one is not None]
    return tuple(dict.fromkeys([*tasks, *references[:_REFERENCES_LIMIT]]))


def decide_create(request: Request, world: World) -> Decision:
    """Decide about a new attestation. Pure."""
    return (
        too_large(request)
        or _statement_problem(request)
        or _task_problem(request, world)
        or _evidence_problem(request, world)
        or ALLOWED
    )


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
    task_name = str(spec_of(request.new).get("task"))
    task = world.find("LabTask", task_name)
    if task is None:
        return forbidden(
            f"attestation {request.name!r}: task {task_name!r} is not in namespace "
            f"{request.namespace!r}; name a task that is"
        )
    if state_of(task) != TaskState.INTERVENTION_REQUIRED:
        return forbidden(
            f"attestation {request.name!r}: task {task_name!r} is in {state_of(task)!r}; only a "
            f"task in {TaskState.INTERVENTION_REQUIRED.value!r} can be attested"
        )
    duties = separates_duties(readable(LabPolicy, world.of("LabPolicy")))
    if duties and request.user == _requester(task):
        return forbidden(
            f"attestation {request.name!r}: {request.user!r} asked for the call of task "
            f"{task_name!r}, and the policy separates duties; somebody else may attest it"
        )
    return None


def _requester(task: Mapping[str, Any]) -> str:
    """Return who asked for the last call of a task, the one of unknown outcome."""
    status = task.get("status")
    calls = status.get("dispatches") if isinstance(status, dict) else None
    last = calls[-1] if isinstance(calls, list) and calls else None
    return str(last.get("requestedBy", "")) if isinstance(last, dict) else ""


def _evidence_problem(request: Request, world: World) -> Decision | None:
    for reference in _references(request):
        if reference is None:
            return invalid(
                f"attestation {request.name!r}: evidence is a list of kind and name, each kind one "
                f"of {', '.join(lab_kinds())}"
            )
        kind, name = reference
        if world.find(kind, name) is None:
            return forbidden(
                f"attestation {request.name!r}: evidence {kind} {name[:80]!r} is not in namespace "
                f"{request.namespace!r}; evidence is an object that is there"
            )
    return None


def _references(request: Request) -> list[tuple[str, str] | None]:
    """Return kind and name of each reference; None for what is not one."""
    found = spec_of(request.new).get("evidence", [])
    return [reference_of(one) for one in found] if isinstance(found, list) else [None]


def _is_numbered(name: str, task_name: str) -> bool:
    # Two digits, so that no task can be given more attestations than anybody would read.
    prefix = f"{task_name}-"
    return name.startswith(prefix) and re.fullmatch(r"[1-9][0-9]?", name[len(prefix) :]) is not None
