"""What is done inside of a node, what a new cluster is waited for, and the way to it."""

from __future__ import annotations

import base64
import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cluster.kind.access import write_access
from harness.cluster.kind.images import NodeSource, ensure_in_engine
from harness.cluster.kind.node import KindNode
from harness.cluster.kind.settling import not_ready, wait_until_settled
from harness.errors import ClusterError, UnreachableError
from tests.unit.cluster.kind.fakes import FakeCommands, engine
from tests.unit.core.fakes import FakeClock


def _node(commands: FakeCommands) -> KindNode:
    return KindNode(engine=engine(commands), container="n")


def test_a_file_of_the_node_is_read_byte_for_byte() -> None:
    commands = FakeCommands()
    commands.teach("podman", "exec", "n", "cat", "/j", stdout="a\udcff\n")

    assert _node(commands).read_file(Path("/j")) == b"a\xff\n"


def test_a_file_that_is_not_there_is_named() -> None:
    commands = FakeCommands()
    commands.teach("podman", "exec", "n", "cat", stderr="cat: /j: No such file", code=1)

    with pytest.raises(ClusterError) as caught:
        _node(commands).read_file(Path("/j"))

    assert str(caught.value) == "node n: /j: cat: /j: No such file"


def test_a_container_is_killed_through_the_runtime_and_its_pod_left() -> None:
    commands = FakeCommands()
    commands.teach("podman", "exec", "n", "crictl", "ps", stdout="c0ffee\n")
    commands.teach("podman", "exec", "n", "ctr")

    _node(commands).kill_container("lab-1", "controller")

    asked, killed = commands.seen
    assert "io.kubernetes.pod.namespace=lab-1" in asked
    assert "io.kubernetes.container.name=controller" in asked
    assert killed[3:] == (
        *("ctr", "--namespace", "k8s.io", "tasks", "kill", "--signal", "SIGKILL", "c0ffee"),
    )


@pytest.mark.parametrize("found", ["", "a\nb\n"])
def test_no_container_is_killed_unless_exactly_one_is_meant(found: str) -> None:
    commands = FakeCommands()
    commands.teach("podman", "exec", "n", "crictl", "ps", stdout=found)

    with pytest.raises(ClusterError) as caught:
        _node(commands).kill_container("lab-1", "controller")

    number = len(found.split())
    assert str(caught.value) == f"{number} running containers 'controller' in lab-1, expected 1"


def test_a_pods_folder_is_where_the_kubelet_keeps_it() -> None:
    path = _node(FakeCommands()).pod_volume_path("uid-1", "state")

    assert path == Path("/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/state")


def _pod(name: str, ready: str) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": ready, "reason": "x"}]
    return {"metadata": {"name": name}, "status": {"conditions": conditions}}


def test_a_pod_is_ready_when_it_says_so_and_not_before() -> None:
    pods = [_pod("b", "False"), _pod("a", "True"), {"metadata": {"name": "c"}}]

    assert not_ready(pods) == ("b", "c")


class Server:
    """An API server that answers from a list, then always with the last; counts what it gave."""

    def __init__(self, *answers: list[dict[str, Any]] | None, account: int = 200) -> None:
        self._answers = list(answers)
        self._account = account
        self.asked = 0

    def get(self, path: str) -> tuple[int, bytes]:
        """Answer one request."""
        if path.endswith("/serviceaccounts/default"):
            return self._account, b"{}"
        assert path == "/api/v1/namespaces/kube-system/pods"
        self.asked += 1
        pods = self._answers[0] if len(self._answers) == 1 else self._answers.pop(0)
        if pods is None:
            msg = "no answer"
            raise UnreachableError(msg)
        return 200, json.dumps({"items": pods}).encode()


def test_a_cluster_has_settled_once_it_was_ready_four_times_in_a_row() -> None:
    ready, starting = [_pod("dns", "True")], [_pod("dns", "False")]
    server = Server(None, starting, ready, starting, ready)

    wait_until_settled(server.get, clock=FakeClock())

    assert server.asked == 4 + 4


@pytest.mark.parametrize(
    ("server", "seen"),
    [
        (Server([_pod("dns", "False")]), "('dns',)"),
        (Server([]), "('no pod in kube-system',)"),
        (Server([_pod("dns", "True")], account=404), "('the default ServiceAccount',)"),
    ],
)
def test_a_cluster_that_never_settles_says_what_is_missing(server: Server, seen: str) -> None:
    with pytest.raises(ClusterError) as caught:
        wait_until_settled(server.get, clock=FakeClock())

    assert str(caught.value) == f"the new cluster not ready within 180 s, last seen: {seen}"


def _kubeconfig(**user: str) -> Mapping[str, Any]:
    encoded = {name: base64.b64encode(text.encode()).decode() for name, text in user.items()}
    cluster = {"server": "https://127.0.0.1:4711", "certificate-authority-data": "Q0E="}
    return {"clusters": [{"cluster": cluster}], "users": [{"user": encoded}]}


def test_the_admins_kubeconfig_names_files_and_holds_no_key(tmp_path: Path) -> None:
    source = tmp_path / "kind.kubeconfig"
    user = {"client-certificate-data": "CERT", "client-key-data": "KEY"}
    source.write_text(yaml.safe_dump(_kubeconfig(**user)))

    access = write_access(tmp_path)

    assert not source.exists()
    assert access.server == "https://127.0.0.1:4711"
    assert "KEY" not in access.kubeconfig.read_text()
    key = access.certificate_path.with_suffix(".key")
    assert key.read_text() == "KEY"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(access.kubeconfig.stat().st_mode) == 0o600


def test_a_kubeconfig_without_a_key_is_not_kinds(tmp_path: Path) -> None:
    (tmp_path / "kind.kubeconfig").write_text(yaml.safe_dump(_kubeconfig()))

    with pytest.raises(ClusterError, match="not the kubeconfig of a kind cluster"):
        write_access(tmp_path)


def test_a_node_image_that_the_engine_has_is_not_loaded_again(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach("podman", "image", "inspect", "localhost/n:1")
    source = NodeSource(reference="localhost/n:1", archive=tmp_path / "n.tar")

    ensure_in_engine(engine(commands), source, lambda _: None)

    assert [words[1] for words in commands.seen] == ["image"]


def test_an_archive_that_holds_another_image_is_refused(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach("podman", "image", "inspect", code=1)
    commands.teach("podman", "load", "--input", str(tmp_path / "n.tar"))
    source = NodeSource(reference="localhost/n:1", archive=tmp_path / "n.tar")

    with pytest.raises(ClusterError) as caught:
        ensure_in_engine(engine(commands), source, lambda _: None)

    assert str(caught.value) == f"{tmp_path / 'n.tar'}: no image localhost/n:1 in it"


def test_an_image_without_an_archive_is_left_to_kind() -> None:
    commands = FakeCommands()

    ensure_in_engine(engine(commands), NodeSource(reference=None), lambda _: None)
    ensure_in_engine(engine(commands), NodeSource(reference="x:1"), lambda _: None)

    assert commands.seen == []
