"""The documents that go to kind, and what it is told on its command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.embedded.flags import Ports, api_server_argv
from harness.cluster.kind.command_line import Kind
from harness.cluster.kind.config import kind_config
from harness.errors import ClusterError, PrerequisiteError
from tests.unit.cluster.kind.fakes import FakeCommands, engine


def _config(*, node_image: str | None = "localhost/n:1", cgroup_v1: bool = False) -> dict[str, Any]:
    return kind_config(
        "strandline-x",
        node_image=node_image,
        audit_dir=Path("/state/audit"),
        pod_logs_dir=Path("/state/logs/pods"),
        policy_path=Path("/state/audit-policy.yaml"),
        cgroup_v1=cgroup_v1,
    )


def _patches(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    patches = [json.loads(text) for text in config["kubeadmConfigPatches"]]
    return {f"{patch['kind']} {patch['apiVersion']}": patch for patch in patches}


def test_the_api_server_is_on_loopback_and_its_log_in_our_folder() -> None:
    config = _config()

    assert config["networking"] == {"apiServerAddress": "127.0.0.1"}
    mounts = {mount["hostPath"]: mount for mount in config["nodes"][0]["extraMounts"]}
    assert mounts["/state/audit"]["containerPath"] == "/var/log/strandline"
    assert mounts["/state/logs/pods"]["containerPath"] == "/var/log/pods"
    assert mounts["/state/audit-policy.yaml"]["readOnly"]


def test_the_audit_flags_are_those_of_the_embedded_cluster() -> None:
    embedded = api_server_argv(
        Path("/kube-apiserver"),
        pki=Path("/pki"),
        ports=Ports(etcd=1, etcd_peer=2, api=3, webhook=4),
        audit_policy=Path("/etc/kubernetes/strandline/audit-policy.yaml"),
        audit_log=Path("/var/log/strandline/audit.log"),
    )

    server = _patches(_config())["ClusterConfiguration kubeadm.k8s.io/v1beta4"]["apiServer"]

    flags = [f"--{flag['name']}={flag['value']}" for flag in server["extraArgs"]]
    assert set(flags) <= set(embedded)
    assert {flag for flag in embedded if flag.startswith("--audit-")} <= set(flags)


def test_both_forms_of_kubeadms_configuration_say_the_same() -> None:
    patches = _patches(_config())

    new = patches["ClusterConfiguration kubeadm.k8s.io/v1beta4"]["apiServer"]
    old = patches["ClusterConfiguration kubeadm.k8s.io/v1beta3"]["apiServer"]
    assert {flag["name"]: flag["value"] for flag in new["extraArgs"]} == old["extraArgs"]
    assert new["extraVolumes"] == old["extraVolumes"]


def test_only_where_control_groups_are_old_is_the_kubelet_told_so() -> None:
    name = "KubeletConfiguration kubelet.config.k8s.io/v1beta1"

    assert _patches(_config(cgroup_v1=True))[name]["failCgroupV1"] is False
    assert name not in _patches(_config(cgroup_v1=False))


def test_without_a_node_image_kind_takes_its_own() -> None:
    assert _config()["nodes"][0]["image"] == "localhost/n:1"
    assert "image" not in _config(node_image=None)["nodes"][0]


def _kind(commands: FakeCommands) -> Kind:
    return Kind(path=Path("/bin/kind"), engine=engine(commands))


def test_kind_never_touches_the_users_own_kubeconfig(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach("kind", "create", "cluster", stderr="Ready after 2s\n")

    _kind(commands).create(
        "strandline-x",
        config=_config(),
        kubeconfig=tmp_path / "own",
        log_path=tmp_path / "kind.log",
    )

    (argv,) = commands.seen
    assert f"--kubeconfig={tmp_path / 'own'}" in argv
    assert (tmp_path / "kind.log").read_text() == "Ready after 2s\n"


def test_a_node_image_that_cannot_be_pulled_has_a_way_out(tmp_path: Path) -> None:
    commands = FakeCommands()
    words = 'ERROR: failed to create cluster: failed to pull image "kindest/node:v1"'
    commands.teach("kind", "create", "cluster", stderr=f"Creating\n{words}\n", code=1)

    with pytest.raises(PrerequisiteError) as caught:
        _kind(commands).create(
            "strandline-x",
            config=_config(),
            kubeconfig=tmp_path / "own",
            log_path=tmp_path / "kind.log",
        )

    assert str(caught.value) == f"kind create cluster: the node image cannot be pulled: {words}"
    assert caught.value.hint == "run make node-image"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"stderr": "a\nERROR: no such file\nstack\n", "code": 1}, "ERROR: no such file\nstack"),
        ({"stderr": "only this\n", "code": 1}, "only this"),
        ({"late": True}, "not done within 180 s"),
    ],
)
def test_what_kind_says_went_wrong_is_in_the_message(
    answer: dict[str, Any], why: str, tmp_path: Path
) -> None:
    commands = FakeCommands()
    commands.teach("kind", "load", "image-archive", **answer)

    with pytest.raises(ClusterError) as caught:
        _kind(commands).load("x", tmp_path / "lab.tar", log_path=tmp_path / "kind.log")

    assert str(caught.value) == f"kind load image-archive: {why}"
