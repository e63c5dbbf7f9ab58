"""Each fault that a laboratory can have, made in the real processes, with its own witness."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.bench.faults import lost_status_writes
from harness.bench.instruments import InstrumentsClient
from harness.cluster.provider import Cluster
from harness.cluster.services.laboratory import ProcessLaboratory
from harness.core.waiting import wait_until
from harness.errors import ClusterError
from harness.kube.audit import AuditLog
from harness.kube.client import KubeClient
from harness.kube.resources import INSTRUMENTS, LAB_TASKS, VALIDATING_WEBHOOKS
from tests.integration.lab.bench import BALANCE, MIX, RULES
from tests.integration.lab.laboratory import Lab

#: Each test has a mixer of its own: what is stranded keeps its instrument.
MIXERS = [
    {"name": f"mixer-{n}", "type": "mixer", "latencySeconds": 0.2, "reservoirGrams": 100}
    for n in range(1, 6)
]
PAUSED = "asleep-mix"
STRANDED = "intervention_required"


class Shop:
    """A laboratory whose services are those of an attempt."""

    def __init__(self, lab: Lab, services: ProcessLaboratory, folder: Path) -> None:
        address = services.open()
        self.lab, self.services, self.folder = lab, services, folder
        self.instruments = InstrumentsClient(address.url, token=address.token)

    def mix(self, name: str, mixer: str, **step: Any) -> str:
        """Have the previous operator ask for a mix; return the name of its task."""
        sample = {"sample_id": name}
        asked = {**MIX, "instrument": mixer, "inputs": {**MIX["inputs"], **sample}, **step}
        self.lab.submit(self.lab.previous, name, asked)
        return f"{name}-mix"

    def look(self, name: str, capability: str, instrument: str, **inputs: Any) -> dict[str, Any]:
        """Have the agent look; return what it is shown."""
        step = {"id": "look", "capability": capability, "instrument": instrument, "inputs": inputs}
        self.lab.submit(self.lab.agent, name, step)
        self.lab.wait_run(name, "completed")
        outputs: dict[str, Any] = self.lab.task(f"{name}-look")["status"]["outputs"]
        return outputs

    def stranded(self, task: str) -> str:
        """Wait until a task is stranded; return why."""
        found = self.lab.wait_task(task, lambda one: one["status"].get("state") == STRANDED)
        reason: str = found["status"]["reason"]
        return reason

    def request_of(self, task: str) -> str:
        """Return the request of a task's last dispatch."""
        found = self.lab.wait_dispatched(task)
        request_id: str = found["status"]["dispatches"][-1]["requestId"]
        return request_id

    def late_answers(self, task: str) -> list[dict[str, Any]]:
        """Return the events of answers to a task that came too late."""
        return [one for one in self.lab.events("LateAnswer") if one["task"] == task]

    def seen(self, request_id: str) -> list[str]:
        """Return what the journal has of a request."""
        entries = self.instruments.journal()
        return [entry["event"] for entry in entries if entry["requestId"] == request_id]

    def await_event(self, request_id: str, event: str) -> None:
        """Wait until the journal has it."""
        wait_until(
            lambda: self.seen(request_id), lambda seen: event in seen, what=event, timeout_s=10
        )


@pytest.fixture(scope="module")
def shop(
    cluster: Cluster, registered: KubeClient, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    lab = Lab(cluster, registered, folder)
    lab.furnish([*MIXERS, BALANCE], RULES)
    services = ProcessLaboratory(
        cluster,
        namespace=lab.namespace,
        work_dir=folder,
        logs_dir=folder,
        pause_at="before_send",
        pause_task=PAUSED,
        read_instruments=lambda: registered.list_objects(INSTRUMENTS, namespace=lab.namespace),
        request_token=lambda: registered.request_token(lab.namespace, "controller", lifetime_s=600),
    )
    try:
        made = Shop(lab, services, folder)
        with closing(made.instruments) as instruments:
            silent = {"kind": "whole", "silent": True}
            cut_off = {"kind": "cut_off", "share": 0.5, "silent": True}
            instruments.tell_fates("key", {"mixer-1": [silent], "mixer-2": [cut_off]})
            yield made
    finally:
        services.end()
        lab.end()


def test_an_answer_beyond_the_wait_becomes_an_event_that_names_its_request(shop: Shop) -> None:
    task = shop.mix("late", "mixer-1", timeoutSeconds=0.5)
    reason = shop.stranded(task)
    before = shop.late_answers(task)
    request_id = shop.request_of(task)

    shop.instruments.release(request_id)

    (late,) = wait_until(
        lambda: shop.late_answers(task), bool, what="the late answer", timeout_s=10
    )
    assert before == []
    assert reason == "execution_timed_out"
    assert late["payload"]["requestId"] == request_id
    assert late["payload"]["outcome"] == "succeeded"
    assert late["payload"]["outputs"]["total_mass_g"] == 5.0
    assert shop.lab.state(LAB_TASKS, task)[0] == STRANDED
    assert shop.seen(request_id) == ["accepted", "started", "finished", "released"]


def test_an_instrument_that_forgot_shows_an_empty_log_and_what_it_did(shop: Shop) -> None:
    task = shop.mix("forgot", "mixer-2", timeoutSeconds=0.5)
    reason = shop.stranded(task)
    request_id = shop.request_of(task)
    kept = shop.look("log-kept", "sim.read_log", "mixer-2")

    shop.instruments.restart("mixer-2", memory=False)

    log = shop.look("log-lost", "sim.read_log", "mixer-2")
    gauge = shop.look("gauge", "sim.read_gauge", "mixer-2")
    mass = shop.look("mass", "sim.measure_mass", "balance-1", sample_id="forgot")
    assert reason == "execution_timed_out"
    told = [one["event"] for one in kept["entries"] if one["requestId"] == request_id]
    assert told == ["accepted", "started", "stopped"]
    assert request_id not in {one["requestId"] for one in log["entries"]}
    assert log["up_since"] > kept["up_since"] == ""
    assert (gauge["level_g"], mass["mass_g"]) == (97.5, 2.5)


def test_a_link_that_drops_after_the_send_strands_a_call_that_was_accepted(shop: Shop) -> None:
    shop.instruments.drop_link("mixer-3")

    task = shop.mix("dropped", "mixer-3")

    assert shop.stranded(task) == "task_outcome_unknown"
    message = shop.lab.task(task)["status"]["message"]
    assert "instrument mixer-3: the link failed: RemoteProtocolError" in message
    assert shop.seen(shop.request_of(task))[:3] == ["accepted", "link_dropped", "started"]


def test_a_controller_that_was_replaced_in_its_sleep_can_send_nothing_any_more(shop: Shop) -> None:
    task = shop.mix("asleep", "mixer-4")
    wait_until(lambda: shop.services.paused_at, bool, what="a pause", timeout_s=10)
    asleep = set(_controllers())

    shop.services.start_second_controller()
    frozen = {state for pid, state in _controllers().items() if pid in asleep}
    reason = shop.stranded(task)
    request_id = shop.request_of(task)
    never_sent = shop.seen(request_id)
    shop.services.wake_first_controller()
    shop.await_event(request_id, "stale")
    with pytest.raises(ClusterError, match="two controllers already"):
        shop.services.start_second_controller()
    shop.services.end_first_controller()

    assert frozen == {"T"}
    assert reason == "controller_restarted"
    assert never_sent == []
    assert shop.seen(request_id) == ["stale"]
    assert shop.lab.state(LAB_TASKS, task) == (STRANDED, "controller_restarted")
    assert asleep & set(_controllers()) == set()


def test_a_status_write_that_the_api_server_loses_leaves_its_call_stranded(shop: Shop) -> None:
    lab = shop.lab
    path = lab.cluster.audit_log_path
    assert path is not None
    shop.instruments.hold("mixer-5")
    task = shop.mix("lost", "mixer-5")
    request_id = shop.request_of(task)
    shop.await_event(request_id, "started")

    with lost_status_writes(
        lab.admin,
        lab.namespace,
        labels={},
        audit=AuditLog(path),
        controller_log=shop.folder / "controller.log",
    ) as lost:
        nobody_yet = lost.refused()
        shop.instruments.let_go("mixer-5")
        wait_until(lost.refused, lambda count: count >= 2, what="lost writes", timeout_s=10)
        shop.services.replace_controller()

    assert nobody_yet == 0
    assert shop.stranded(task) == "controller_restarted"
    assert shop.seen(request_id) == ["accepted", "started", "finished"]
    log = (shop.folder / "controller.log").read_text()
    assert 'failed calling webhook "lost-writes.strandline.dev"' in log
    left = [item["metadata"]["name"] for item in lab.admin.list_objects(VALIDATING_WEBHOOKS)]
    assert [name for name in left if "lost" in name] == []


def _controllers() -> dict[int, str]:
    """Return pid to state of the controllers below this process: T for one that is frozen."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if words[1:4] == [b"-m", b"harness.lab", b"controller"] and _is_ours(int(fields[1])):
            found[int(folder.name)] = fields[0].decode()
    return found


def _is_ours(leash_pid: int) -> bool:
    stat = Path(f"/proc/{leash_pid}/stat").read_bytes()
    return int(stat.rpartition(b")")[2].split()[1]) == os.getpid()
