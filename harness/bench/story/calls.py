"""Following one call of a story: written down, accepted, ended, and left without an outcome.

Looks at objects as the harness and at the instruments' journal; changes nothing. Every wait is
bounded, sleeps on the clock it was given, and says what it saw last. Called by history and cast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.bench.story.stage import Stage
from harness.core.waiting import Clock, wait_until
from harness.errors import ClusterError, HarnessError, NotFoundError
from harness.kube.resources import CAPABILITIES, INSTRUMENTS, LAB_RUNS, LAB_TASKS, Resource

#: Seconds for each thing that a story waits for: what takes longer has gone wrong.
STORY_TIMEOUT_S = 20.0

#: Seconds between two looks; a cancellation is counted from what they see.
_INTERVAL_S = 0.02

_STRANDED = "intervention_required"

#: States of a run that it does not leave by itself.
_ENDED = frozenset({"completed", "failed", "aborted", _STRANDED})

#: Those in which nothing can be stranded any more: the wait was broken too late.
_OVER = frozenset({"completed", "aborted"})

#: Events of a call after which nothing more becomes of it.
_CALL_ENDS = frozenset({"finished", "stopped"})

Object = dict[str, Any]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The call that an interruption meets.

    Attributes:
        run: Name of the LabRun.
        step: Its step, as a LabRun has it.
        before: How many dispatches the step has had already.
    """

    run: str
    step: Mapping[str, Any]
    before: int = 0

    @property
    def task(self) -> str:
        """Name of the LabTask."""
        return f"{self.run}-{self.step['id']}"


class Eyes:
    """What the harness sees of a stage, and how it waits for it."""

    def __init__(self, stage: Stage, clock: Clock) -> None:
        self.stage = stage
        self.clock = clock

    def all_of(self, resource: Resource) -> list[Object]:
        """Return every object of a kind, sorted by name."""
        return self.stage.client.list_objects(resource, namespace=self.stage.namespace)

    def run(self, name: str) -> Object:
        """Return a LabRun."""
        return self.stage.client.get(LAB_RUNS, name, namespace=self.stage.namespace)

    def task(self, name: str) -> Object:
        """Return a LabTask."""
        return self.stage.client.get(LAB_TASKS, name, namespace=self.stage.namespace)

    def capability(self, capability_id: str) -> Object:
        """Return the spec of a capability.

        Raises:
            ClusterError: The laboratory has none of that id.
        """
        listed = self.all_of(CAPABILITIES)
        specs: dict[str, Object] = {item["spec"]["id"]: item["spec"] for item in listed}
        if capability_id not in specs:
            msg = f"story: no capability {capability_id!r}, expected one of {', '.join(specs)}"
            raise ClusterError(msg, hint="add it to the stack, or take another")
        return specs[capability_id]

    def instrument_for(self, step: Mapping[str, Any]) -> str:
        """Return the instrument that a step's call will go to: its own, else the first free one.

        Raises:
            ClusterError: None of its type is free.
        """
        if step.get("instrument"):
            return str(step["instrument"])
        wanted = self.capability(step["capability"])["instrumentType"]
        for item in self.all_of(INSTRUMENTS):
            status = item.get("status", {})
            free = not status.get("heldBy") and not status.get("quarantined")
            if item["spec"]["type"] == wanted and free:
                return str(item["metadata"]["name"])
        msg = f"story: no instrument of type {wanted!r} is free for step {step['id']!r}"
        raise ClusterError(msg, hint="name the instrument in the step")

    def status(self, task: str) -> Object:
        """Return the status of a task; empty when it is not there yet."""
        found = self.stage.client.find(LAB_TASKS, task, namespace=self.stage.namespace) or {}
        status: Object = found.get("status", {})
        return status

    def dispatches(self, task: str) -> list[Object]:
        """Return the dispatches of a task; none when it is not there yet."""
        return list(self.status(task).get("dispatches", ()))

    def dispatched(self, target: Target) -> Object:
        """Wait until the call is on record, and return its dispatch."""

        def newest() -> Object | None:
            run = self.run(target.run)  # first: what it led to before its end is there to be seen
            found = self.dispatches(target.task)
            if len(found) > target.before:
                return found[-1]
            refuse_end(run)
            return None

        return self.some(newest, f"dispatch of {target.task}")

    def accepted(self, request_id: str) -> Object:
        """Wait until an instrument has taken a call, and return the entry."""
        return self.entry("accepted", request_id)

    def entry(self, event: str, request_id: str) -> Object:
        """Wait until the journal has an event of a call, and return the entry."""
        return self._entry(event, "requestId", request_id, f"call {request_id}")

    def entries(self, request_id: str) -> list[Object]:
        """Return what the journal has of a call, in order."""
        return [
            one for one in self.stage.instruments.journal() if one.get("requestId") == request_id
        ]

    def instrument_entry(self, event: str, instrument: str, *, after: int = 0) -> Object:
        """Wait until the journal has an event of an instrument behind a position; return it."""
        return self._entry(event, "instrument", instrument, f"instrument {instrument}", after=after)

    def _entry(self, event: str, key: str, value: str, whose: str, *, after: int = 0) -> Object:
        def first() -> Object | None:
            entries = self.stage.instruments.journal()[after:]
            return next(
                (one for one in entries if one["event"] == event and one.get(key) == value), None
            )

        return self.some(first, f"{event!r} of {whose} in the journal")

    def ended(self, request_id: str) -> Object:
        """Wait until the truth about a call is final, and return the last entry of it."""

        def last() -> Object | None:
            ends = [one for one in self.entries(request_id) if one["event"] in _CALL_ENDS]
            return ends[-1] if ends else None

        return self.some(last, f"end of call {request_id} in the journal")

    def stranded(self, target: Target, *, timeout_s: float = STORY_TIMEOUT_S) -> str:
        """Wait until run and task both wait for somebody to settle them; return the reason."""

        def states() -> tuple[str, str, str]:
            run, task = self.run(target.run), self.task(target.task)
            if run["status"]["state"] in _OVER:
                refuse_end(run)
            status = task["status"]
            return run["status"]["state"], status["state"], status.get("reason", "")

        seen = self.until(
            states,
            lambda seen: seen[:2] == (_STRANDED, _STRANDED),
            f"stranding of run {target.run} and task {target.task}",
            timeout_s=timeout_s,
            tolerate=(NotFoundError,),
        )
        return seen[2]

    def some(self, probe: Callable[[], Object | None], what: str) -> Object:
        """Wait until there is something, and return it."""
        found = self.until(probe, lambda seen: seen is not None, what)
        if found is None:  # pragma: no cover - the wait says otherwise
            raise AssertionError
        return found

    def until(
        self,
        probe: Callable[[], T],
        ready: Callable[[T], bool],
        what: str,
        *,
        timeout_s: float = STORY_TIMEOUT_S,
        tolerate: tuple[type[HarnessError], ...] = (),
    ) -> T:
        """Wait until something is so, and return it."""
        return wait_until(
            probe,
            ready,
            what=what,
            timeout_s=timeout_s,
            interval_s=_INTERVAL_S,
            tolerate=tolerate,
            clock=self.clock,
        )


def refuse_end(run: Object) -> None:
    """Refuse to wait for a run that ended, unless it was resumed and nobody has noticed yet."""
    name, status = run["metadata"]["name"], run.get("status", {})
    resumed = run["spec"].get("resumeCount", 0) > status.get("observedResumeCount", 0)
    if status.get("state") in _ENDED and not resumed:
        said = status.get("message") or status.get("reason") or "nothing"
        msg = f"story: run {name} ended in {status['state']!r}, which says {said}"
        raise ClusterError(msg, hint="look at the instruments' log")
