"""The suite on a kind cluster, as a user types it: scores, and what runs and kills leave."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.core.waiting import wait_until
from harness.kube.client import KubeClient
from harness.kube.resources import CONFIG_MAPS, NAMESPACES, Resource
from harness.model.results import RunReport
from tests.kind.conftest import listing
from tests.suite.conftest import Desk, lab_namespaces, processes_below, wait_for_phase

pytestmark = pytest.mark.timeout(3600)

_KIND = ("--cluster", "kind")

PODS = Resource(group="", version="v1", plural="pods", kind="Pod")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(dir=tmp_path_factory.mktemp("desk"))
    try:
        done = desk.type("provision", *_KIND, "--json")
        assert done.returncode == 0, done.stderr
        yield desk
    finally:
        ended = desk.type("teardown", *_KIND)
    assert ended.returncode == 0, ended.stderr
    assert processes_below(desk.dir) == []
    assert list(desk.tmp.iterdir()) == []
    assert not desk.home.exists()


@pytest.fixture(scope="module")
def client(desk: Desk) -> Iterator[KubeClient]:
    (kubeconfig,) = desk.home.glob("clusters/*/admin.kubeconfig")
    client = KubeClient.from_kubeconfig(kubeconfig)
    yield client
    client.close()


def _validated(desk: Desk, control: str) -> list[Mapping[str, Any]]:
    done = desk.type("validate", "lab-operation", "--control", control, "--json", *_KIND)
    assert done.returncode == 0, done.stderr
    rows: list[Mapping[str, Any]] = json.loads(done.stdout)["rows"]
    return rows


def test_three_runs_in_a_row_score_what_they_must_and_leave_the_cluster_as_it_was(
    desk: Desk, client: KubeClient
) -> None:
    before = listing(client)

    ran = desk.type("run", "--agent", "control:reference", "--json", *_KIND)
    reference = _validated(desk, "reference")
    tidy = _validated(desk, "tidy-but-not-thorough")

    assert ran.returncode == 0, ran.stderr
    report = RunReport.model_validate_json(ran.stdout)
    assert report.index == 1.0
    assert report.cluster.provider == "kind"
    assert (report.specs.broken, report.specs.unknown) == (0, 0)
    assert report.specs.held > 0
    assert {row["control"] for row in reference + tidy if row["ok"]} == {
        "reference",
        "tidy-but-not-thorough",
    }
    recover = [row for row in tidy if row["task"] == "settle-a-stopped-run"]
    assert [row["found"]["passed"] for row in recover] == [False]
    assert listing(client) == before
    assert lab_namespaces(client) == []


def test_the_specs_hold_on_the_cluster(desk: Desk) -> None:
    ready = desk.type("ready", "--json", *_KIND)
    verified = desk.type("verify", "--json", *_KIND)

    assert ready.returncode == 0, ready.stderr
    assert verified.returncode == 0, verified.stderr
    found = json.loads(verified.stdout)
    assert found["held"] == len(found["cases"]) > 0


def test_the_webhook_runs_as_nobody_on_a_file_system_that_it_cannot_write(
    client: KubeClient,
) -> None:
    (pod,) = client.list_objects(PODS, namespace="strandline-system")

    (container,) = pod["spec"]["containers"]
    namespace = client.get(NAMESPACES, "strandline-system")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
    assert pod["spec"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert container["resources"].keys() == {"limits", "requests"}


def test_a_controller_killed_in_its_container_leaves_a_stranded_call_and_a_successor(
    desk: Desk,
) -> None:
    task = "settle-a-stopped-run"
    killed = desk.with_task(
        "lab-operation",
        task,
        lambda text: text.replace("cancel_after_seconds: 0.3", "interrupt: controller_killed"),
    )

    ran = killed.type("run", "--agent", "control:reference", "--only", task, "--json", *_KIND)

    report = RunReport.model_validate_json(ran.stdout)
    ((attempt,),) = [one.attempts for one in report.tasks]
    bundle = killed.runs[-1] / "attempts" / task / "1"
    witness = json.loads((bundle / "setup.json").read_text())
    journal = json.loads((bundle / "evidence" / "instruments.json").read_text())
    assert attempt.status == "passed", attempt.error
    assert [
        entry["event"] for entry in journal if entry.get("requestId") == witness["requestId"]
    ] == ["accepted", "started", "finished"]


@pytest.mark.parametrize("phase", ["provision", "act"])
def test_a_sweep_after_a_kill_leaves_nothing_of_ours_and_touches_nothing_else(
    desk: Desk, client: KubeClient, phase: str
) -> None:
    stranger = client.create(
        CONFIG_MAPS, {"metadata": {"name": f"kept-{phase}"}}, namespace="default"
    )
    before = listing(client)
    runs = len(desk.runs)
    task = ("--only", "settle-a-stopped-run")
    with desk.start_bare("run", "--agent-command", "sleep 60", *task, *_KIND) as harness:
        wait_until(lambda: len(desk.runs), lambda now: now > runs, what="a run", timeout_s=120)
        wait_for_phase(desk, phase)
        harness.kill()

    swept = desk.type("sweep", "--json", *_KIND)

    found = json.loads(swept.stdout)
    assert swept.returncode == 0, swept.stderr
    assert len([line for line in found["found"] if line.startswith("attempt ")]) == 1
    assert found["leftovers"] == []
    assert listing(client) == before
    kept = client.get(CONFIG_MAPS, f"kept-{phase}", namespace="default")
    assert kept["metadata"]["uid"] == stranger["metadata"]["uid"]
    assert list(desk.home.glob("attempts/*")) == []


def test_a_run_with_a_cluster_of_its_own_that_is_killed_is_swept_whole(tmp_path: Path) -> None:
    desk = Desk(dir=tmp_path)
    task = ("--only", "mix-and-measure")
    with desk.start_bare("run", "--agent-command", "sleep 60", *task, *_KIND) as harness:
        wait_until(lambda: len(desk.runs), bool, what="a run", timeout_s=300)
        wait_for_phase(desk, "act")
        harness.kill()

    swept = desk.type("sweep", *_KIND)
    again = desk.type("sweep", *_KIND)

    assert swept.returncode == 0, swept.stderr
    assert "swept kind cluster strandline-" in swept.stdout
    assert again.stdout == "nothing of ours is left\n"
    assert processes_below(desk.dir) == []
    assert not desk.home.exists()
