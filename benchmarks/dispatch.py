"""How soon the controller sends a call, with many runs in flight.

The runs in flight wait for equipment that is held; each further run can be done at once. Timed is
from before the create is sent until the controller's own `sentAt`, so the create is in it. Called
by `laboratory_figures`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from benchmarks.admission import run_of
from harness.bench.world import World
from harness.core.waiting import SYSTEM_CLOCK, wait_until
from harness.kube.client import KubeClient
from harness.kube.resources import LAB_RUNS, LAB_TASKS

#: Runs in flight, as the goal has it.
IN_FLIGHT = 50

#: Runs that are timed; a namespace takes 100 in all.
_TIMED = 30

#: Seconds for a run of 50 ms, and for 50 runs to be taken up.
_TIMEOUT_S = 30.0

_HELD = "furnace-1"


def lags_ms(world: World) -> list[float]:
    """Return milliseconds from the wish to the dispatch, of one run after the other."""
    client = world.client_as("previous-operator")
    mixed = _timed(client, world.namespace, run_of("fill", "sim.mix_components", **_AMOUNTS))
    del mixed
    _await_run(client, world.namespace, "fill")
    world.instruments.hold(_HELD)
    try:
        for number in range(IN_FLIGHT):
            run = run_of(f"waits-{number}", "sim.anneal", sample_id="bench")
            client.create(LAB_RUNS, run, namespace=world.namespace)
        wait_until(
            lambda: len(client.list_objects(LAB_TASKS, namespace=world.namespace)),
            lambda found: found > IN_FLIGHT,
            what="tasks of the runs in flight",
            timeout_s=_TIMEOUT_S,
        )
        return [
            _timed(client, world.namespace, run_of(f"timed-{number}", sample_id="bench"))
            for number in range(_TIMED)
        ]
    finally:
        world.instruments.let_go(_HELD)


_AMOUNTS = {"sample_id": "bench", "red_g": 1, "green_g": 1, "blue_g": 1}


def _timed(client: KubeClient, namespace: str, run: dict[str, Any]) -> float:
    name = run["metadata"]["name"]
    wished_at = SYSTEM_CLOCK.now()
    client.create(LAB_RUNS, run, namespace=namespace)
    sent_at = wait_until(
        lambda: _sent_at(client, namespace, f"{name}-one"),
        lambda found: found is not None,
        what=f"dispatch of {name}",
        timeout_s=_TIMEOUT_S,
    )
    if sent_at is None:  # pragma: no cover - it was waited for
        raise AssertionError
    return 1000 * (sent_at - wished_at).total_seconds()


def _sent_at(client: KubeClient, namespace: str, task: str) -> datetime | None:
    found = client.find(LAB_TASKS, task, namespace=namespace)
    calls = ((found or {}).get("status") or {}).get("dispatches") or []
    return datetime.fromisoformat(calls[0]["sentAt"]) if calls else None


def _await_run(client: KubeClient, namespace: str, name: str) -> None:
    wait_until(
        lambda: client.get(LAB_RUNS, name, namespace=namespace).get("status", {}).get("state"),
        lambda state: state == "completed",
        what=f"end of {name}",
        timeout_s=_TIMEOUT_S,
    )
