"""All that reconciliation sees: the objects of a namespace, and what one process knows beside.

Pure data. What a process knows beside dies with it, on purpose: a successor cannot know whether a
call that it did not send was carried out, and does not ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from harness.core.naming import service_account_user
from harness.lab.capabilities import capability_of
from harness.model.lab import (
    Approval,
    Attestation,
    Capability,
    Dispatch,
    Instrument,
    LabPolicy,
    LabRun,
    LabTask,
    RetrySafety,
    Step,
)

#: Seconds waited for the answer of a call whose capability is gone.
_DEFAULT_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an instrument delivered about a call.

    Attributes:
        outputs: What it answered.
        error: One line when the call failed, or empty.
        at: When it came.
    """

    outputs: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What this process knows beside the objects.

    Attributes:
        listening: Whether answers are being received; nothing is sent otherwise.
        sent: Request ids that this process sent, or was about to.
        refused: Request id to the refusal of the instrument; nothing happened.
        lost: Request id to the failure of the link; anything may have happened.
        answers: Request id to its answer.
    """

    listening: bool = True
    sent: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)
    lost: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, Answer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What a capability says about its calls; the strictest when it is gone."""

    acts: bool = True
    repeatable: bool = False
    max_retries: int = 0
    timeout_s: float = _DEFAULT_TIMEOUT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Everything.

    Attributes:
        namespace: The namespace.
        events: Names of the LabEvents that there are.
        notes: Names of the Notes that there are.
        facts: What this process knows beside.
    """

    namespace: str
    runs: tuple[LabRun, ...] = ()
    tasks: tuple[LabTask, ...] = ()
    instruments: tuple[Instrument, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    policies: tuple[LabPolicy, ...] = ()
    attestations: tuple[Attestation, ...] = ()
    approvals: tuple[Approval, ...] = ()
    notes: frozenset[str] = frozenset()
    events: frozenset[str] = frozenset()
    facts: Facts = field(default_factory=Facts)

    @property
    def controller(self) -> str:
        """User name of the controller itself."""
        return service_account_user(self.namespace, "controller")

    def promise(self, run: LabRun, task: LabTask) -> Promise:
        """Return what is promised about the calls of a task."""
        capability = capability_of(self.capabilities, task.spec.capability)
        step = step_of(run, task)
        own_s = step.timeout_seconds if step else None
        if capability is None:
            return Promise(timeout_s=own_s or _DEFAULT_TIMEOUT_S)
        return Promise(
            acts=capability.spec.acts,
            repeatable=capability.spec.retry_safety is RetrySafety.REPEATABLE,
            max_retries=capability.spec.max_retries,
            timeout_s=own_s or capability.spec.timeout_seconds,
        )


def step_of(run: LabRun, task: LabTask) -> Step | None:
    """Return the step of a run that a task is the record of, or None. Pure."""
    return next((step for step in run.spec.steps if step.id == task.spec.step), None)


def last_dispatch(task: LabTask) -> Dispatch | None:
    """Return the last call of a task, or None. Pure."""
    return task.status.dispatches[-1] if task.status.dispatches else None


def last_round(task: LabTask) -> int:
    """Return the round in which a task entered its state. Pure."""
    return task.status.history[-1].round if task.status.history else 0
