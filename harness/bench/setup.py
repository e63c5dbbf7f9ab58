"""The broken state, reached by acting as the previous operator, with a witness that it landed.

Nothing is ever written into a status here: a run is created, an instrument accepts the call, the
wait is dropped, and the truth is final before the agent begins. Whatever does not land in time is
an infrastructure error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from harness.bench.world import World
from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.errors import ClusterError, NotFoundError, SuiteError
from harness.kube.resources import LAB_RUNS, LAB_TASKS
from harness.model.suite import Setup, Task

#: Seconds for the whole of a setup.
SETUP_TIMEOUT_S = 20.0

_RUN, _STEP = "night-shift", "mix"

#: Where a controller that is to be killed stops itself: the call was sent, nothing is recorded.
PAUSE_POINT = "after_send"

_STRANDED = "intervention_required"

#: Performs a setup in a world and returns its witness.
SetupRunner = Callable[[Setup, World], dict[str, Any]]


def pause_point(setup: Setup | None) -> str | None:
    """Return where the controller must stop itself, if it is to be killed. Pure."""
    return PAUSE_POINT if setup and setup.interrupt else None


def perform(setup: Setup, world: World, *, clock: Clock = SYSTEM_CLOCK) -> dict[str, Any]:
    """Reach the broken state and return its witness: uids, requestId, acceptedAt, truthFinalAt.

    Raises:
        WaitTimeoutError: A step did not come about; the message says which and what was seen.
        ClusterError: The run ended otherwise, for example because an instrument refused.
    """
    operator = world.session.client.as_service_account(world.namespace, "previous-operator")
    manifest = {
        "apiVersion": LAB_RUNS.api_version,
        "kind": LAB_RUNS.kind,
        "metadata": {"name": _RUN, "namespace": world.namespace},
        "spec": {
            "environment": "simulation",
            "steps": [{"id": _STEP, "capability": setup.capability, "inputs": setup.inputs}],
        },
    }
    run = operator.create(LAB_RUNS, manifest, namespace=world.namespace)
    accepted = _accepted(world, clock)
    if setup.cancel_after_seconds is None:
        _kill_paused_controller(world, clock)
    else:
        clock.sleep(setup.cancel_after_seconds)
        operator.patch(
            LAB_RUNS, _RUN, {"spec": {"cancelRequested": True}}, namespace=world.namespace
        )
    _wait_for_state(world, clock)
    wait_until(
        world.instruments.idle,
        bool,
        what="rest of the instruments",
        timeout_s=SETUP_TIMEOUT_S,
        clock=clock,
    )
    task = world.session.client.get(LAB_TASKS, f"{_RUN}-{_STEP}", namespace=world.namespace)
    return {
        "uids": {"run": run["metadata"]["uid"], "task": task["metadata"]["uid"]},
        "requestId": accepted["requestId"],
        "acceptedAt": accepted["at"],
        "truthFinalAt": clock.now().isoformat(),
    }


def require_runner(tasks: Iterable[Task], runner: SetupRunner | None) -> None:
    """Refuse tasks with a setup where nobody can perform it, before anything exists.

    Raises:
        SuiteError: Grading such a task would be unfair, so it cannot start.
    """
    for task in tasks:
        if task.setup is not None and runner is None:
            msg = f"task {task.id!r} has a setup, and there is no runner to perform it"
            raise SuiteError(msg, hint="pass a setup runner, or leave the task out with --only")


def _accepted(world: World, clock: Clock) -> dict[str, Any]:
    def entry() -> dict[str, Any] | None:
        run = world.session.client.get(LAB_RUNS, _RUN, namespace=world.namespace)
        status = run.get("status", {})
        if status.get("state") == "failed":
            msg = f"setup: run {_RUN} failed before its wait was dropped: {status.get('message')}"
            raise ClusterError(msg, hint="look at the instruments' log")
        return next(
            (item for item in world.instruments.journal() if item["event"] == "accepted"), None
        )

    found = wait_until(
        entry,
        lambda seen: seen is not None,
        what="acceptance by the instrument",
        timeout_s=SETUP_TIMEOUT_S,
        interval_s=0.02,
        clock=clock,
    )
    if found is None:  # pragma: no cover - the wait says otherwise
        raise AssertionError
    return found


def _kill_paused_controller(world: World, clock: Clock) -> None:
    wait_until(
        lambda: world.laboratory.paused_at,
        lambda point: point == PAUSE_POINT,
        what=f"pause of the controller {PAUSE_POINT}",
        timeout_s=SETUP_TIMEOUT_S,
        clock=clock,
    )
    world.laboratory.replace_controller()


def _wait_for_state(world: World, clock: Clock) -> None:
    def states() -> tuple[str, str]:
        client, namespace = world.session.client, world.namespace
        run = client.get(LAB_RUNS, _RUN, namespace=namespace)
        task = client.get(LAB_TASKS, f"{_RUN}-{_STEP}", namespace=namespace)
        return run["status"]["state"], task["status"]["state"]

    wait_until(
        states,
        lambda seen: seen == (_STRANDED, _STRANDED),
        what=f"stranding of run {_RUN} and its task",
        timeout_s=SETUP_TIMEOUT_S,
        tolerate=(NotFoundError,),
        clock=clock,
    )
