"""Following one call of a story: written down, accepted, ended, and left without an outcome.

Looks at objects as the harness and at the instruments' journal; changes nothing. Every wait is
bounded, sleeps on the clock it was given, and says what it saw last. Called by history and cast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.bench.stage import Stage
from harness.core.waiting import Clock, wait_until
from harness.errors import ClusterError, NotFoundError
from harness.kube.resources import CAPABILITIES, INSTRUMENTS, LAB_RUNS, LAB_TASKS

#: Seconds for each thing that a story waits for: what takes longer has gone wrong.
STORY_TIMEOUT_S = 20.0

#: Seconds between two looks; a cancellation is counted from what they see.
_INTERVAL_S = 0.02

_STRANDED = "intervention_required"

#: States of a run that it does not leave by itself.
_ENDED = frozenset({"completed", "failed", "aborted", _STRANDED})

#: States of a run after which it can be resumed, or never.
_RESUMABLE_OR_OVER = frozenset({"failed", "completed", "aborted"})

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
        found = self.stage.client.list_objects(CAPABILITIES, namespace=self.stage.namespace)
        specs: dict[str, Object] = {item["spec"]["id"]: item["spec"] for item in found}
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
        for item in self.stage.client.list_objects(INSTRUMENTS, namespace=self.stage.namespace):
            status = item.get("status", {})
            free = not status.get("heldBy") and not status.get("quarantined")
            if item["spec"]["type"] == wanted and free:
                return str(item["metadata"]["name"])
        msg = f"story: no instrument of type {wanted!r} is free for step {step['id']!r}"
        raise ClusterError(msg, hint="name the instrument in the step")

    def dispatches(self, task: str) -> list[Object]:
        """Return the dispatches of a task; none when it is not there yet."""
        client, namespace = self.stage.client, self.stage.namespace
        found = client.find(LAB_TASKS, task, namespace=namespace)
        return list((found or {}).get("status", {}).get("dispatches", ()))

    def dispatched(self, target: Target) -> Object:
        """Wait until the call is on record, and return its dispatch."""

        def newest() -> Object | None:
            run = self.run(target.run)  # first: what it led to before its end is there to be seen
            found = self.dispatches(target.task)
            if len(found) > target.before:
                return found[-1]
            _refuse_end(run)
            return None

        return self.some(newest, f"dispatch of {target.task}")

    def accepted(self, request_id: str) -> Object:
        """Wait until an instrument has taken a call, and return the entry."""
        return self.entry("accepted", request_id)

    def entry(self, event: str, request_id: str) -> Object:
        """Wait until the journal has an event of a call, and return the entry."""
        return self.some(
            lambda: next((one for one in self.entries(request_id) if one["event"] == event), None),
            f"{event!r} of call {request_id} in the journal",
        )

    def entries(self, request_id: str) -> list[Object]:
        """Return what the journal has of a call, in order."""
        return [one for one in self.stage.journal() if one.get("requestId") == request_id]

    def instrument_entry(self, event: str, instrument: str, *, after: int = 0) -> Object:
        """Wait until the journal has an event of an instrument behind a position; return it."""
        return self.some(
            lambda: next(
                (
                    one
                    for one in self.stage.journal()[after:]
                    if one["event"] == event and one.get("instrument") == instrument
                ),
                None,
            ),
            f"{event!r} of instrument {instrument} in the journal",
        )

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
            status = task["status"]
            return run["status"]["state"], status["state"], status.get("reason", "")

        seen = wait_until(
            states,
            lambda seen: seen[:2] == (_STRANDED, _STRANDED),
            what=f"stranding of run {target.run} and task {target.task}",
            timeout_s=timeout_s,
            interval_s=_INTERVAL_S,
            tolerate=(NotFoundError,),
            clock=self.clock,
        )
        return seen[2]

    def state(self, run: str, wanted: str) -> None:
        """Wait until a run is in a state.

        Raises:
            ClusterError: It ended in another one.
        """

        def state() -> str:
            found = self.run(run)
            seen = str(found.get("status", {}).get("state", ""))
            if seen != wanted:
                _refuse_end(found)
            return seen

        self.until(state, lambda seen: seen == wanted, f"run {run} {wanted}")

    def held(self, run: str) -> Object:
        """Wait until an instrument has a call of a run in hand, and return its entry."""

        def entry() -> Object | None:
            client, namespace = self.stage.client, self.stage.namespace
            asked = self.run(run)
            for task in client.list_objects(LAB_TASKS, namespace=namespace):
                status = task.get("status", {})
                if task["spec"]["run"] == run and status.get("state") == "running":
                    request_id = status["dispatches"][-1]["requestId"]
                    found = [one["event"] for one in self.entries(request_id)]
                    if "accepted" in found:
                        return self.accepted(request_id)
            _refuse_end(asked)
            return None

        return self.some(entry, f"call of run {run} at an instrument")

    def some(self, probe: Callable[[], Object | None], what: str) -> Object:
        """Wait until there is something, and return it."""
        found = self.until(probe, lambda seen: seen is not None, what)
        if found is None:  # pragma: no cover - the wait says otherwise
            raise AssertionError
        return found

    def until(self, probe: Callable[[], T], ready: Callable[[T], bool], what: str) -> T:
        """Wait until something is so, and return it."""
        return wait_until(
            probe,
            ready,
            what=what,
            timeout_s=STORY_TIMEOUT_S,
            interval_s=_INTERVAL_S,
            clock=self.clock,
        )

    def resumable(self, run: str) -> Object:
        """Wait until a run can be resumed, or never can be any more, and return it."""
        return self.until(
            lambda: self.run(run),
            lambda seen: seen.get("status", {}).get("state") in _RESUMABLE_OR_OVER,
            f"run {run} failed",
        )


def _refuse_end(run: Object) -> None:
    """Refuse to wait for a run that ended, unless it was resumed and nobody has noticed yet."""
    name, status = run["metadata"]["name"], run.get("status", {})
    resumed = run["spec"].get("resumeCount", 0) > status.get("observedResumeCount", 0)
    if status.get("state") in _ENDED and not resumed:
        said = status.get("message") or status.get("reason") or "nothing"
        msg = f"story: run {name} ended in {status['state']!r}, which says {said}"
        raise ClusterError(msg, hint="look at the instruments' log")
