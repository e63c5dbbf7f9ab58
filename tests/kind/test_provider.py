"""Real clusters in containers: made, entered, killed half-way, ended; nothing stays."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from harness.cluster.kind.engine import Engine
from harness.cluster.kind.provider import KindProvider
from harness.cluster.provider import Cluster
from harness.cluster.toolchain import Toolchain
from harness.core.process import Child, run, scrubbed_environment
from harness.core.waiting import wait_until
from tests.kind.machine_state import machine_state

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.timeout(600)

_PROVISION = """
import os, pathlib, sys
from harness.cluster.kind.provider import KindProvider
from harness.cluster.toolchain import Toolchain, default_cache_dir
toolchain = Toolchain(root=pathlib.Path(sys.argv[1]), cache_dir=default_cache_dir(os.environ),
                      environ=os.environ, progress=print)
KindProvider().provision(pathlib.Path(sys.argv[2]), toolchain=toolchain,
                         progress=lambda text: print(text, flush=True))
"""


def _kubectl(toolchain: Toolchain, cluster: Cluster, *args: str) -> str:
    kubectl = toolchain.ensure(["kubectl"])["kubectl"]
    environment = scrubbed_environment({"KUBECONFIG": str(cluster.kubeconfig)})
    finished = run([str(kubectl), *args], env=environment, timeout_s=60)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_record_of_a_request_is_on_this_machine_before_its_answer(
    cluster: Cluster, toolchain: Toolchain
) -> None:
    _kubectl(toolchain, cluster, "get", "--raw", "/api/v1/namespaces?limit=1&mark=here-it-is")

    assert cluster.audit_log_path is not None
    lines = cluster.audit_log_path.read_text().splitlines()
    marked = [json.loads(line) for line in lines if "mark=here-it-is" in line]
    assert [event["stage"] for event in marked] == ["ResponseComplete"]


def test_the_api_servers_own_log_can_be_read(cluster: Cluster) -> None:
    (log,) = cluster.api_server_log_paths()

    assert " stderr F " in log.read_text()


def test_a_killed_container_is_started_again_in_the_same_pod(
    provider: KindProvider, cluster: Cluster, toolchain: Toolchain
) -> None:
    node = provider.node(cluster)
    assert node is not None

    def scheduler() -> tuple[str, int, bool]:
        pods = json.loads(
            _kubectl(
                toolchain,
                cluster,
                *("get", "pods", "--namespace=kube-system", "--output=json"),
                "--selector=component=kube-scheduler",
            )
        )["items"]
        (status,) = pods[0]["status"]["containerStatuses"]
        return pods[0]["metadata"]["uid"], status["restartCount"], status["ready"]

    uid, restarts, _ = scheduler()

    node.kill_container("kube-system", "kube-scheduler")

    after = wait_until(
        scheduler,
        lambda seen: seen[1] > restarts and seen[2],
        what="the successor",
        timeout_s=90,
        interval_s=0.5,
    )
    assert after[0] == uid
    assert node.read_file(Path("/kind/version")).decode().strip() == cluster.versions["kubernetes"]


def test_the_laboratorys_image_is_on_the_node(cluster: Cluster, engine: Engine) -> None:
    images = engine.call("exec", f"{cluster.name}-control-plane", "crictl", "images", "-o", "json")

    tags = [tag for image in json.loads(images)["images"] for tag in image["repoTags"]]
    assert cluster.image in tags


def test_what_a_killed_provision_leaves_is_found_and_taken_down(
    provider: KindProvider, engine: Engine, tmp_path: Path
) -> None:
    before = machine_state(engine)
    argv = [sys.executable, "-c", _PROVISION, str(ROOT), str(tmp_path)]

    with Child(argv, env=scrubbed_environment({}), keep_survivors=True) as child:
        wait_until(
            lambda: engine.call("ps", "--format", "{{.Names}}").split(),
            lambda names: any(name not in before["containers"].split() for name in names),
            what="a node",
            timeout_s=120,
            interval_s=0.5,
        )
        child.crash()
    found = provider.abandoned(tmp_path, older_than_s=3600)
    provider.reap(tmp_path, older_than_s=3600)

    assert found[0].startswith("kind cluster strandline-")
    assert provider.abandoned(tmp_path, older_than_s=3600) == ()
    assert list((tmp_path / "clusters").iterdir()) == []
    assert machine_state(engine) == before


def test_a_provisioned_cluster_is_found_again_and_taken_down_whole(
    provider: KindProvider, engine: Engine, toolchain: Toolchain, tmp_path: Path
) -> None:
    before = machine_state(engine)

    made = provider.provision(tmp_path, toolchain=toolchain, progress=print)
    again = provider.provision(tmp_path, toolchain=toolchain, progress=print)
    left = KindProvider().abandoned(tmp_path, older_than_s=0)
    provider.teardown(tmp_path)
    provider.teardown(tmp_path)

    assert again == made
    assert left == ()
    assert provider.find(tmp_path) is None
    assert not made.state_dir.exists()
    assert machine_state(engine) == before
