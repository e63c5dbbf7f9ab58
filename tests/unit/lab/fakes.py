"""A laboratory in memory with a clock of its own: store, instruments and reconciliation, no thread.

Strict: a write of a stale version, an illegal transition and a second object of a name are errors.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

from harness.lab.admission.request import is_name
from harness.lab.instruments.rack import Rack
from harness.lab.instruments.slot import Call, Entry, InstrumentSetup
from harness.lab.lifecycle import RUN, TASK, allowed
from harness.lab.reconcile import (
    Action,
    Answer,
    Create,
    Facts,
    Observed,
    Send,
    WriteStatus,
    next_wake,
    reconcile,
)
from harness.model.lab import (
    Approval,
    Attestation,
    Capability,
    Instrument,
    LabPolicy,
    LabRun,
    LabTask,
    RunState,
    TaskState,
)

START = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)

MIX: dict[str, Any] = {
    "id": "mix",
    "capability": "sim.mix_color",
    "inputs": {"sample_id": "s1", "red_fraction": 0.5, "blue_fraction": 0.5, "total_mass_g": 5.0},
}
WEIGH: dict[str, Any] = {
    "id": "weigh",
    "capability": "sim.measure_mass",
    "inputs": {"sample_id": "s1"},
}


def parameter(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def capability(capability_id: str, **spec: Any) -> Capability:
    return Capability.of(
        {
            "metadata": {"name": capability_id.replace("_", "-")},
            "spec": {
                "id": capability_id,
                "riskClass": "R1",
                "acts": True,
                "timeoutSeconds": 10,
                "instrumentType": "mixer",
                **spec,
            },
        }
    )


def mix_capability(**spec: Any) -> Capability:
    inputs = [
        parameter("sample_id", "string"),
        parameter("red_fraction", "number", unit="1", minimum=0, maximum=1),
        parameter("blue_fraction", "number", unit="1", minimum=0, maximum=1),
        parameter("total_mass_g", "number", unit="g", minimum=0.001),
    ]
    return capability("sim.mix_color", inputs=inputs, **spec)


def weigh_capability(**spec: Any) -> Capability:
    more = {"acts": False, "riskClass": "R0", "retrySafety": "repeatable", **spec}
    inputs = [parameter("sample_id", "string")]
    return capability("sim.measure_mass", inputs=inputs, **{"instrumentType": "balance", **more})


def policy(*rules: Mapping[str, Any], name: str = "lab", **spec: Any) -> LabPolicy:
    return LabPolicy.of({"metadata": {"name": name}, "spec": {"rules": list(rules), **spec}})


ALLOW: dict[str, Any] = {"id": "everything", "effect": "allow"}
ASK: dict[str, Any] = {
    "id": "ask",
    "effect": "require_approval",
    "capability": "sim.mix_color",
    "reason": "somebody else decides",
}


class FakeLab:
    """Objects, instruments and one controller at a time."""

    def __init__(self, *, latency_s: float = 1.0, refuses: bool = False) -> None:
        self.now = START
        self.rack = Rack(
            [
                InstrumentSetup(name="mixer-1", type="mixer", latency_s=latency_s, refuses=refuses),
                InstrumentSetup(name="balance-1", type="balance", latency_s=0.1),
            ]
        )
        self.capabilities = [mix_capability(), weigh_capability()]
        self.policies = [policy(ALLOW)]
        self.runs: dict[str, LabRun] = {}
        self.tasks: dict[str, LabTask] = {}
        self.attestations: dict[str, Attestation] = {}
        self.approvals: dict[str, Approval] = {}
        self.notes: set[str] = set()
        self.instruments = {
            name: Instrument.of({"metadata": self._meta(name), "spec": {"type": kind}})
            for name, kind in (("mixer-1", "mixer"), ("balance-1", "balance"))
        }
        self.events: dict[str, dict[str, Any]] = {}
        self.facts = Facts()
        self.journal: list[Entry] = []
        self.link_down = False
        self.crash_before: type[Any] | None = None

    _versions = itertools.count(1)

    def _meta(self, name: str) -> dict[str, Any]:
        number = next(self._versions)
        return {
            "name": name,
            "uid": f"{number:08d}-uid",
            "resourceVersion": str(number),
            "generation": 1,
            "creationTimestamp": self.now.isoformat(),
        }

    def submit(self, name: str, *steps: Mapping[str, Any], **spec: Any) -> None:
        """Put a run there."""
        self.runs[name] = LabRun.of(
            {
                "metadata": self._meta(name),
                "spec": {"operator": "operator", "steps": list(steps), **spec},
            }
        )

    def edit(self, name: str, **spec: Any) -> None:
        """Change the spec of a run, as an admitted update would."""
        run = self.runs[name]
        meta = run.metadata.model_copy(
            update={
                "resource_version": str(next(self._versions)),
                "generation": run.metadata.generation + 1,
            }
        )
        self.runs[name] = run.model_copy(
            update={"metadata": meta, "spec": run.spec.model_copy(update=spec)}
        )

    def attest(
        self,
        task: str,
        finding: str,
        *,
        n: int = 1,
        by: str = "attester",
        evidence: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Put an attestation there, with evidence by kind."""
        name = f"{task}-{n}"
        spec = {
            "task": task,
            "finding": finding,
            "basis": "looked",
            "attestedBy": by,
            "evidence": [{"kind": kind, "name": one} for kind, one in evidence.items()],
        }
        self.attestations[name] = Attestation.of({"metadata": self._meta(name), "spec": spec})

    def approve(self, run: str, name: str = "yes", *, by: str = "approver", **spec: Any) -> None:
        """Put a decision there: a grant for an hour, unless told otherwise."""
        stamps = {
            "approvedBy": by,
            "runUid": self.runs[run].uid,
            "decidedAt": self.now.isoformat(),
        }
        ends_at = self.now + timedelta(hours=1)
        granted = {"decision": "granted", "expiresAt": ends_at.isoformat()}
        self.approvals[name] = Approval.of(
            {"metadata": self._meta(name), "spec": {"run": run, **granted, **stamps, **spec}}
        )

    def observed(self) -> Observed:
        """Return what a controller sees."""
        return Observed(
            namespace="lab",
            runs=tuple(self.runs.values()),
            tasks=tuple(self.tasks.values()),
            instruments=tuple(self.instruments.values()),
            capabilities=tuple(self.capabilities),
            policies=tuple(self.policies),
            attestations=tuple(self.attestations.values()),
            approvals=tuple(self.approvals.values()),
            notes=frozenset(self.notes),
            events=frozenset(self.events),
            facts=self.facts,
        )

    def step(self) -> tuple[Action, ...]:
        """Make one pass; stop short before an action of the class `crash_before`."""
        actions = reconcile(self.observed(), self.now)
        for action in actions:
            if self.crash_before is not None and isinstance(action, self.crash_before):
                self.restart_controller()
                self.crash_before = None
                break
            self._do(action)
        return actions

    def settle(self) -> None:
        """Make passes until nothing is due at this time."""
        for _ in range(100):
            if not self.step():
                return
        msg = "reconciliation does not come to rest"
        raise AssertionError(msg)

    def advance(self, seconds: float) -> None:
        """Let time pass: answers arrive and time-outs fall due when they do."""
        end = self.now + timedelta(seconds=seconds)
        self.settle()
        while True:
            times = (self.rack.next_at, next_wake(self.observed(), self.now))
            due = min((one for one in times if one is not None), default=end)
            self.now = max(self.now, min(due, end))
            for entry in self.rack.advance(self.now):
                self.journal.append(entry)
                if entry["event"] == "finished":
                    self._hear(entry)
            self.settle()
            if self.now >= end:
                return

    def restart_controller(self) -> None:
        """Forget what one process knew."""
        self.facts = Facts()

    def run_state(self, name: str) -> tuple[RunState, str]:
        """Return state and reason of a run."""
        return self.runs[name].status.state, self.runs[name].status.reason

    def task_state(self, name: str) -> tuple[TaskState, str]:
        """Return state and reason of a task."""
        return self.tasks[name].status.state, self.tasks[name].status.reason

    def event_types(self) -> list[str]:
        """Return the type of every event."""
        return [str(spec["type"]) for spec in self.events.values()]

    def event(self, kind: str) -> dict[str, Any]:
        """Return the one event of a type."""
        (found,) = [spec for spec in self.events.values() if spec["type"] == kind]
        return found

    def _hear(self, entry: Entry) -> None:
        answer = Answer(outputs=entry.get("outputs", {}), error=entry.get("error", ""), at=self.now)
        answers = {**self.facts.answers, entry["requestId"]: answer}
        self.facts = replace(self.facts, answers=answers)

    def _do(self, action: Action) -> None:
        match action:
            case Create(kind="LabTask"):
                assert action.name not in self.tasks
                meta = {**self._meta(action.name), **action.manifest["metadata"]}
                self.tasks[action.name] = LabTask.of({**action.manifest, "metadata": meta})
            case Create():
                assert action.name not in self.events
                assert is_name(action.name), action.name
                self.events[action.name] = action.manifest["spec"]
            case Send():
                self._send(action)
            case WriteStatus():
                self._write(action)

    def _send(self, action: Send) -> None:
        self.facts = replace(self.facts, sent=self.facts.sent | {action.request_id})
        if self.link_down:
            lost = {**self.facts.lost, action.request_id: "the link failed"}
            self.facts = replace(self.facts, lost=lost)
            return
        call = Call(
            request_id=action.request_id,
            capability=action.capability,
            inputs=action.inputs,
            fencing_token=action.fencing_token,
        )
        reply = self.rack.submit(action.instrument, call, self.now)
        self.journal += reply.entries
        if reply.code >= 400:
            refused = {**self.facts.refused, action.request_id: reply.message}
            self.facts = replace(self.facts, refused=refused)

    def _write(self, action: WriteStatus) -> None:
        stores: dict[str, dict[str, Any]] = {
            "LabRun": self.runs,
            "LabTask": self.tasks,
            "Instrument": self.instruments,
            "Attestation": self.attestations,
        }
        old = stores[action.kind][action.name]
        assert old.metadata.resource_version == action.resource_version
        status = type(old.status).model_validate(action.status)
        machine = {"LabRun": RUN, "LabTask": TASK}.get(action.kind)
        if machine is not None:
            assert allowed(machine, old.status.state, status.state), (old.status.state, status)
        meta = old.metadata.model_copy(update={"resource_version": str(next(self._versions))})
        new = old.model_copy(update={"metadata": meta, "status": status})
        stores[action.kind][action.name] = new
