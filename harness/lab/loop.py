"""The loop of the controller: observe, decide with `reconcile`, act.

Knows what this process alone knows (what it sent, what it heard), which dies with it, on purpose.
Refuses to decide anything. Started by the controller's process; threads feed it.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import ConflictError, KubeError
from harness.kube.client import KubeClient
from harness.kube.resources import LAB_KINDS
from harness.lab.cache import Cache
from harness.lab.fencing import calls_to_fence
from harness.lab.link import InstrumentLink
from harness.lab.pausing import PausePoint
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
)

_LOG = logging.getLogger(__name__)

_RESOURCES = {resource.kind: resource for resource in LAB_KINDS}

#: Seconds before the next pass after a write was refused: the watch is then about to tell why.
_AGAIN_S = 0.05

#: Seconds after which a pass is made although nothing happened.
_IDLE_S = 5.0


class Controller:
    """One process's view of one namespace, and what it does about it."""

    def __init__(
        self,
        *,
        namespace: str,
        client: KubeClient,
        cache: Cache,
        link: InstrumentLink,
        stop: threading.Event,
        pause: Callable[[PausePoint, Mapping[str, Any]], None],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._namespace = namespace
        self._client, self._cache, self._link = client, cache, link
        self._stop, self._pause, self._clock = stop, pause, clock
        self._sent: dict[str, Mapping[str, str]] = {}
        self._fenced: set[str] = set()
        self._refused: dict[str, str] = {}
        self._lost: dict[str, str] = {}
        self._answers: dict[str, Answer] = {}
        self._heard: deque[Mapping[str, Any]] = deque()
        self._listening = False
        self._said: dict[str, str] = {}

    @property
    def listening(self) -> bool:
        """Whether answers are being received."""
        return self._listening

    def set_listening(self, value: bool) -> None:  # noqa: FBT001 - a callback with one flag
        """Say whether answers are being received. Any thread may."""
        self._listening = value
        self._cache.bump()

    def hear(self, said: Mapping[str, Any]) -> None:
        """Take an answer. Any thread may."""
        self._heard.append(said)
        self._cache.bump()

    def loop(self) -> None:
        """Observe, decide and act until told to stop."""
        while not self._stop.is_set():
            version = self._cache.version
            self._take_answers()
            observed, now = self._observe(), self._clock.now()
            if not self._fence(observed.tasks):
                self._stop.wait(_AGAIN_S)
                continue
            actions = reconcile(observed, now)
            if actions:
                self._act(actions)
                continue
            wake = next_wake(observed, now)
            left_s = (wake - self._clock.now()).total_seconds() if wake else _IDLE_S
            self._cache.wait(version, min(_IDLE_S, max(0.0, left_s)))

    def _fence(self, tasks: Iterable[LabTask]) -> bool:
        """Shut out what a predecessor may still send; tell whether every instrument heard it."""
        for call in calls_to_fence(tasks, sent=self._sent, fenced=self._fenced):
            trouble = self._link.fence(call.instrument, call.fencing_token)
            if trouble:
                self._say_once(f"fence on {call.instrument}", trouble)
                return False
            self._fenced.add(call.request_id)
        return True

    def _observe(self) -> Observed:
        cache = self._cache
        return Observed(
            namespace=self._namespace,
            runs=cache.of(LabRun),
            tasks=cache.of(LabTask),
            instruments=cache.of(Instrument),
            capabilities=cache.of(Capability),
            policies=cache.of(LabPolicy),
            attestations=cache.of(Attestation),
            approvals=cache.of(Approval),
            events=cache.events,
            notes=cache.notes,
            facts=Facts(
                listening=self._listening,
                sent=frozenset(self._sent),
                refused=dict(self._refused),
                lost=dict(self._lost),
                answers=dict(self._answers),
            ),
        )

    def _take_answers(self) -> None:
        while self._heard:
            said = self._heard.popleft()
            request_id = str(said.get("requestId", ""))
            self._pause(PausePoint.AFTER_ANSWER, self._about(request_id))
            outputs = said.get("outputs")
            self._answers[request_id] = Answer(
                outputs=outputs if isinstance(outputs, dict) else {},
                error=str(said.get("error", "")),
                at=self._clock.now(),
            )

    def _act(self, actions: tuple[Action, ...]) -> None:
        """Do what is due; what may wait only where nothing else was done."""
        later = [one for one in actions if isinstance(one, Create) and one.may_wait]
        done, failed = self._do_each([one for one in actions if one not in later])
        if not done:
            failed += self._do_each(later)[1]
        if failed:
            self._stop.wait(_AGAIN_S)

    def _do_each(self, actions: list[Action] | list[Create]) -> tuple[int, int]:
        """Do them in order, after a failure without what has the same subject; count both."""
        done, failed = 0, set()
        for action in actions:
            if self._stop.is_set() or action.subject in failed:
                continue
            try:
                self._do(action)
                done += 1
            except KubeError as error:
                failed.add(action.subject)
                self._complain(action.subject, error)
        return done, len(failed)

    def _complain(self, subject: str, error: KubeError) -> None:
        """Log what is wrong once; a conflict only means that the watch has news."""
        if not isinstance(error, ConflictError):
            self._say_once(subject, str(error))

    def _say_once(self, subject: str, trouble: str) -> None:
        if self._said.get(subject) != trouble:
            self._said[subject] = trouble
            _LOG.warning("%s: %s", subject, trouble)

    def _do(self, action: Action) -> None:
        match action:
            case Send():
                self._send(action)
            case Create():
                self._create(action)
            case WriteStatus():
                if action.records:
                    self._pause(PausePoint.BEFORE_RECORD, self._about(action.records))
                    if self._stop.is_set():
                        return
                body = {
                    "metadata": {"resourceVersion": action.resource_version},
                    "status": dict(action.status),
                }
                written = self._client.patch(
                    _RESOURCES[action.kind],
                    action.name,
                    body,
                    namespace=self._namespace,
                    subresource="status",
                )
                self._cache.apply(action.kind, "MODIFIED", written)

    def _create(self, action: Create) -> None:
        resource = _RESOURCES[action.kind]
        try:
            made = self._client.create(resource, action.manifest, namespace=self._namespace)
        except ConflictError:
            # It is there, and the watch has not told yet.
            made = self._client.get(resource, action.name, namespace=self._namespace)
        self._cache.apply(action.kind, "ADDED", made)

    def _send(self, action: Send) -> None:
        facts = {
            "requestId": action.request_id,
            "task": action.task,
            "instrument": action.instrument,
        }
        self._sent[action.request_id] = facts
        self._pause(PausePoint.BEFORE_SEND, facts)
        if self._stop.is_set():
            return
        sent = self._link.send(action)
        if sent.lost:
            self._lost[action.request_id] = sent.lost
        elif sent.refused:
            self._refused[action.request_id] = sent.refused
        else:
            self._pause(PausePoint.AFTER_SEND, facts)

    def _about(self, request_id: str) -> Mapping[str, str]:
        """Return what there is to say of a call: all, if it is this process's own."""
        return self._sent.get(request_id, {"requestId": request_id})
