"""What reconciliation may ask for, and how a status with a new state is written.

Pure. Every write names the version that it was decided on, so that it is refused when the object
has changed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from harness.kube.resources import LAB_GROUP, LAB_VERSION
from harness.model.lab import (
    Instrument,
    InstrumentStatus,
    LabRun,
    LabTask,
    Moved,
    RunState,
    TaskState,
)

#: Characters of a message in a status; the schema's own limit.
_MESSAGE_CHARS = 1024

#: Condition to the state in which it holds.
_CONDITIONS = {
    "Completed": RunState.COMPLETED,
    "Failed": RunState.FAILED,
    "InterventionRequired": RunState.INTERVENTION_REQUIRED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """Create an object; that it is there already is no failure.

    Attributes:
        subject: What fails with it: later actions of one pass with the same subject are dropped.
        may_wait: Whether a later pass will ask for it again, so that other work can go first.
    """

    subject: str
    kind: str
    manifest: Mapping[str, Any]
    may_wait: bool = False

    @property
    def name(self) -> str:
        """Name of the object."""
        return str(self.manifest["metadata"]["name"])


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteStatus:
    """Write the status of an object that is still at a version.

    Attributes:
        records: Request id whose answer this puts on record, or empty.
    """

    subject: str
    kind: str
    name: str
    resource_version: str
    status: Mapping[str, Any]
    records: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """Hand a call to an instrument. Its dispatch is on record by then."""

    subject: str
    task: str
    instrument: str
    request_id: str
    capability: str
    inputs: Mapping[str, Any]
    fencing_token: int


Action = Create | WriteStatus | Send


def api_version() -> str:
    """Return group and version of the laboratory's kinds. Pure."""
    return f"{LAB_GROUP}/{LAB_VERSION}"


def to_wire(status: BaseModel) -> dict[str, Any]:
    """Return a status as the API server takes it. Pure."""
    return status.model_dump(mode="json", by_alias=True, exclude_none=True)


def move_run(
    run: LabRun,
    state: RunState,
    *,
    now: datetime,
    reason: str = "",
    message: str = "",
    by: str = "",
    **more: Any,
) -> WriteStatus:
    """Return the write that puts a run into a state. Pure."""
    message = message[:_MESSAGE_CHARS]
    count = int(more.get("observed_resume_count", run.status.observed_resume_count))
    moved = Moved(state=state, reason=reason, message=message, by=by, round=count, at=now)
    status = run.status.model_copy(
        update={
            "state": state,
            "reason": reason,
            "message": message,
            "observed_generation": run.metadata.generation,
            "history": (*run.status.history, moved),
            "conditions": _conditions(run, state, reason, message, now),
            **more,
        }
    )
    return _write(run, "LabRun", to_wire(status), run.name)


def acknowledge_run(run: LabRun) -> WriteStatus:
    """Return the write that says that the newest spec of a run was seen. Pure."""
    # `kubectl wait` looks past a condition of an older generation, so these are raised as well.
    generation = run.metadata.generation
    conditions = tuple({**one, "observedGeneration": generation} for one in run.status.conditions)
    status = run.status.model_copy(
        update={"observed_generation": generation, "conditions": conditions}
    )
    return _write(run, "LabRun", to_wire(status), run.name)


def move_task(
    task: LabTask,
    state: TaskState,
    *,
    run: LabRun | None,
    now: datetime,
    reason: str = "",
    message: str = "",
    by: str = "",
    records: str = "",
    **more: Any,
) -> WriteStatus:
    """Return the write that puts a task into a state. Pure."""
    message = message[:_MESSAGE_CHARS]
    count = run.status.observed_resume_count if run else 0
    moved = Moved(state=state, reason=reason, message=message, by=by, round=count, at=now)
    status = task.status.model_copy(
        update={
            "state": state,
            "reason": reason,
            "message": message,
            "history": (*task.status.history, moved),
            **more,
        }
    )
    return _write(task, "LabTask", to_wire(status), task.spec.run, records=records)


def write_instrument(
    instrument: Instrument, status: InstrumentStatus, *, subject: str
) -> WriteStatus:
    """Return the write of an instrument's status. Pure."""
    return _write(instrument, "Instrument", to_wire(status), subject)


def _write(
    obj: LabRun | LabTask | Instrument,
    kind: str,
    status: Mapping[str, Any],
    subject: str,
    *,
    records: str = "",
) -> WriteStatus:
    return WriteStatus(
        subject=subject,
        kind=kind,
        name=obj.name,
        resource_version=obj.metadata.resource_version,
        status=status,
        records=records,
    )


def _conditions(
    run: LabRun, state: RunState, reason: str, message: str, now: datetime
) -> tuple[dict[str, Any], ...]:
    before = {str(one.get("type")): one for one in run.status.conditions}
    found = []
    for name, meant in _CONDITIONS.items():
        holds = "True" if state is meant else "False"
        old = before.get(name, {})
        same = old.get("status") == holds
        found.append(
            {
                "type": name,
                "status": holds,
                "reason": reason or str(state),
                "message": message,
                "lastTransitionTime": old["lastTransitionTime"] if same else now.isoformat(),
                "observedGeneration": run.metadata.generation,
            }
        )
    return tuple(found)
