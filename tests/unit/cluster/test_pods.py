"""Services in pods: followed and reached through kubectl, killed and read inside of the node."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.cluster.provider import Cluster
from harness.cluster.services.laboratory import pause_text
from harness.cluster.services.pods import PodLaboratory
from harness.cluster.services.webhook import webhook_values
from harness.core.waiting import wait_until
from harness.errors import ClusterError

#: A kubectl for one laboratory; it reads what the pods are from files beside itself.
_KUBECTL = """\
#!{python} -IS
import json, pathlib, signal, sys
here = pathlib.Path(__file__).parent
namespace, verb, *rest = sys.argv[1:]
assert namespace == "--namespace=lab-1", namespace
if verb == "logs":
    follow, target, container = rest
    name = target.removeprefix("deployment/")
    assert (follow, container) == ("--follow", "--container=" + name)
    sys.stdout.write((here / (name + ".said")).read_text())
    sys.stdout.flush()
    signal.pause()
elif verb == "port-forward":
    assert rest == ["deployment/instruments", ":8080", "--address=127.0.0.1"], rest
    print("Forwarding from 127.0.0.1:41234 -> 8080", flush=True)
    signal.pause()
elif verb == "get":
    kind, *selector, output = rest
    assert (kind, output) == ("pods", "--output=json"), rest
    name = "".join(selector).removeprefix("--selector=app.kubernetes.io/name=") or "all"
    print((here / (name + ".pods")).read_text())
else:
    sys.exit(64)
"""


class _Node:
    """A node whose controller comes back when it is killed, having something else to say."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.killed: list[tuple[str, str]] = []

    def read_file(self, path: Path) -> bytes:
        assert path == Path("/pods/uid-0/state/instruments.jsonl")
        return b'{"event":"accepted"}\n'

    def kill_container(self, namespace: str, container: str) -> None:
        self.killed.append((namespace, container))
        (self._folder / "controller.said").write_text("ready {}\n")
        _write_pods(self._folder, "controller", restarts=1)

    def pod_volume_path(self, pod_uid: str, volume: str) -> Path:
        return Path("/pods", pod_uid, volume)


def _write_pods(folder: Path, name: str, *, restarts: int, count: int = 1) -> None:
    pods = [
        {
            "metadata": {"name": f"{name}-{number}", "uid": f"uid-{number}"},
            "status": {"containerStatuses": [{"restartCount": restarts, "state": {"running": {}}}]},
        }
        for number in range(count)
    ]
    (folder / f"{name}.pods").write_text(json.dumps({"items": pods}))


def _cluster(folder: Path, image: str | None = "lab:1") -> Cluster:
    return Cluster(
        provider="kind",
        name="strandline-x",
        kubeconfig=folder / "kubeconfig",
        server="https://127.0.0.1:1",
        ca_pem=b"",
        capabilities=frozenset(),
        versions={},
        audit_log_path=None,
        state_dir=folder,
        image=image,
    )


@contextmanager
def _laboratory(folder: Path, node: _Node | None, *, controller: str) -> Iterator[PodLaboratory]:
    kubectl = folder / "kubectl"
    kubectl.write_text(_KUBECTL.format(python=sys.executable))
    kubectl.chmod(0o755)
    (folder / "instruments.said").write_text('ready {"port": 8080}\n')
    (folder / "controller.said").write_text(controller)
    for name in ("instruments", "controller"):
        _write_pods(folder, name, restarts=0)
    (folder / "logs").mkdir()
    laboratory = PodLaboratory(
        _cluster(folder),
        image="lab:1",
        node=node,
        kubectl=kubectl,
        namespace="lab-1",
        logs_dir=folder / "logs",
        pause_at="after_send",
    )
    try:
        yield laboratory
    finally:
        laboratory.end()


def test_pods_are_followed_and_their_instruments_reached(tmp_path: Path) -> None:
    with _laboratory(tmp_path, None, controller="ready {}\n") as laboratory:
        address = laboratory.open()
        told = laboratory.stack_values()["services"]

        assert address.url == "http://127.0.0.1:41234"
        assert address.token == told["harness_token"] != told["controller_token"]
        assert (told["image"], told["pause_at"]) == ("lab:1", "after_send")
        assert laboratory.paused_at is None
        assert laboratory.journal() is None


def test_a_controller_that_stopped_itself_is_killed_in_its_node_and_followed_anew(
    tmp_path: Path,
) -> None:
    node = _Node(tmp_path)

    with _laboratory(tmp_path, node, controller="ready {}\npaused after_send {}\n") as laboratory:
        laboratory.open()
        wait_until(lambda: laboratory.paused_at, bool, what="a pause", timeout_s=5.0)
        laboratory.replace_controller()

        assert node.killed == [("lab-1", "controller")]
        assert laboratory.paused_at is None
        assert laboratory.journal() == b'{"event":"accepted"}\n'


def test_a_controller_cannot_be_killed_where_the_node_is_not_ours_to_enter(tmp_path: Path) -> None:
    with _laboratory(tmp_path, None, controller="ready {}\n") as laboratory:
        laboratory.open()
        with pytest.raises(ClusterError) as caught:
            laboratory.replace_controller()

    assert "its node is not ours to enter" in str(caught.value)


def test_a_second_controller_is_what_pods_cannot_have(tmp_path: Path) -> None:
    with _laboratory(tmp_path, None, controller="ready {}\n") as laboratory:
        for act in (laboratory.start_second_controller, laboratory.wake_first_controller):
            with pytest.raises(ClusterError, match="cannot be kept beside the first") as caught:
                act()
            assert caught.value.hint == "use a cluster with the capability 'two_controllers'"
        laboratory.end_first_controller()


def test_the_stack_is_told_where_to_pause_and_at_whose_call() -> None:
    assert pause_text("before_send", "night-mix") == "before_send@night-mix"
    assert pause_text("before_send", None) == "before_send"
    assert pause_text(None, "night-mix") is None


def test_a_deployment_with_two_pods_is_not_one_laboratory(tmp_path: Path) -> None:
    with _laboratory(tmp_path, _Node(tmp_path), controller="ready {}\n") as laboratory:
        laboratory.open()
        _write_pods(tmp_path, "instruments", restarts=0, count=2)
        with pytest.raises(ClusterError) as caught:
            laboratory.journal()

    assert str(caught.value).startswith("instruments: 2 pods in namespace lab-1, expected 1")


def test_a_pod_that_does_not_come_up_is_named_with_the_reason(tmp_path: Path) -> None:
    waiting = {"reason": "ErrImageNeverPull", "message": "image is not present"}
    stuck = {
        "metadata": {"name": "controller-0"},
        "status": {"containerStatuses": [{"state": {"waiting": waiting}}]},
    }
    runs = {"metadata": {"name": "i-0"}, "status": {"containerStatuses": [{"state": {}}]}}

    with _laboratory(tmp_path, None, controller="ready {}\n") as laboratory:
        (tmp_path / "all.pods").write_text(json.dumps({"items": [stuck, runs]}))
        told = laboratory.trouble()
        (tmp_path / "all.pods").write_text(json.dumps({"items": [runs]}))
        silent = laboratory.trouble()

    assert told == "pod controller-0: ErrImageNeverPull: image is not present"
    assert silent == ""


def test_the_platform_makes_a_webhook_where_the_cluster_runs_an_image(tmp_path: Path) -> None:
    values = webhook_values(_cluster(tmp_path), harness_user="admin")

    assert values.keys() == {"webhook_service", "webhook_ca_bundle"}
    assert values["webhook_service"]["image"] == "lab:1"
    assert values["webhook_service"]["harness_user"] == "admin"
    assert "PRIVATE KEY" in values["webhook_service"]["key"]


def test_a_cluster_with_neither_a_webhook_nor_an_image_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ClusterError) as caught:
        webhook_values(_cluster(tmp_path, image=None), harness_user="admin")

    assert "neither a webhook nor an image" in str(caught.value)
