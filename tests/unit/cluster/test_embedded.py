"""The pure parts of the embedded control plane: flags, certificates, files, ports."""

from __future__ import annotations

import base64
import json
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from importlib import resources
from pathlib import Path

import pytest
import yaml

from harness.cli.options import CLUSTER_NAMES
from harness.cluster.embedded.control_plane import START_FREE_BYTES, start_control_plane
from harness.cluster.embedded.flags import (
    Ports,
    api_server_argv,
    controller_manager_argv,
    etcd_argv,
)
from harness.cluster.embedded.held import HeldKubeconfig
from harness.cluster.embedded.nodes import (
    create_nodes,
    kwok_argv,
    nodes_verdict,
    scheduler_argv,
)
from harness.cluster.embedded.pki import Pki, build_pki
from harness.cluster.embedded.plane import ControlPlane
from harness.cluster.embedded.ports import PORT_RANGE, free_ports
from harness.cluster.embedded.probe import client_context, https_get
from harness.cluster.embedded.provider import EmbeddedProvider
from harness.cluster.kind.provider import KindProvider
from harness.cluster.kubeconfig import with_contents, write_kubeconfig
from harness.cluster.provider import Cluster, ClusterProvider
from harness.cluster.providers import PROVIDERS, Named
from harness.core.process import Child
from harness.core.waiting import wait_until
from harness.errors import ClusterError, UnreachableError

_PORTS = Ports(etcd=20001, etcd_peer=20002, api=20003, webhook=20004)


@pytest.fixture(scope="module")
def pki() -> Pki:
    return build_pki()


def test_the_api_server_is_started_closed_and_with_a_strict_record() -> None:
    argv = api_server_argv(
        Path("/bin/kube-apiserver"),
        pki=Path("/pki"),
        ports=_PORTS,
        audit_policy=Path("/policy"),
        audit_log=Path("/log"),
    )

    assert {
        "--anonymous-auth=false",
        "--authorization-mode=RBAC",
        "--bind-address=127.0.0.1",
        "--audit-log-mode=blocking-strict",
        "--audit-log-maxsize=0",
        "--secure-port=20003",
    } <= set(argv)


def test_etcd_asks_everyone_for_a_certificate_and_listens_on_loopback_alone() -> None:
    argv = etcd_argv(Path("/bin/etcd"), pki=Path("/pki"), data_dir=Path("/data"), ports=_PORTS)

    assert {"--client-cert-auth", "--peer-client-cert-auth"} <= set(argv)
    listens = [flag.partition("=")[2] for flag in argv if flag.startswith("--listen")]
    assert listens == ["https://127.0.0.1:20001", "https://127.0.0.1:20002"]


def test_every_controller_acts_as_itself() -> None:
    argv = controller_manager_argv(Path("/bin/kcm"), pki=Path("/pki"), kubeconfig=Path("/k"))

    assert "--use-service-account-credentials=true" in argv
    assert "--secure-port=0" in argv


def test_keys_are_private_and_the_authorities_are_four(pki: Pki, tmp_path: Path) -> None:
    pki.write(tmp_path / "pki")

    files = list((tmp_path / "pki").iterdir())
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert (tmp_path / "pki").stat().st_mode & 0o777 == 0o700
    assert len({pki.serving_ca_pem, pki.client_ca_pem, pki.etcd_ca_pem}) == 3
    assert len(files) == 3 + 2 * 10


def test_a_clients_certificate_loads_beside_its_key(pki: Pki, tmp_path: Path) -> None:
    pki.write(tmp_path)

    context = client_context(ca=tmp_path / "serving-ca.crt", certificate=tmp_path / "admin.crt")

    assert context.verify_mode is ssl.CERT_REQUIRED
    assert len(context.get_ca_certs()) == 1


def test_nobody_listening_is_unreachable(pki: Pki, tmp_path: Path) -> None:
    pki.write(tmp_path)
    (port,) = free_ports(1)

    with pytest.raises(UnreachableError) as caught:
        https_get(port, "/readyz", context=client_context(ca=tmp_path / "serving-ca.crt"))

    assert str(caught.value) == (f"https://127.0.0.1:{port}/readyz: [Errno 111] Connection refused")


def test_a_kubeconfig_has_one_context_is_private_and_holds_no_key(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"

    pki = tmp_path / "pki"
    pair = (pki / "admin.crt", pki / "admin.key")

    write_kubeconfig(
        path, server="https://127.0.0.1:1", ca_path=pki / "serving-ca.crt", client_certificate=pair
    )

    value = yaml.safe_load(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o600
    assert [context["name"] for context in value["contexts"]] == [value["current-context"]]
    assert value["users"][0]["user"] == {
        "client-certificate": str(tmp_path / "pki" / "admin.crt"),
        "client-key": str(tmp_path / "pki" / "admin.key"),
    }
    assert value["clusters"][0]["cluster"] == {
        "server": "https://127.0.0.1:1",
        "certificate-authority": str(tmp_path / "pki" / "serving-ca.crt"),
    }


def test_ports_are_different_and_out_of_the_way_of_outgoing_connections() -> None:
    ports = free_ports(20)

    assert len(set(ports)) == 20
    assert all(port in PORT_RANGE for port in ports)


def test_writes_keep_the_stage_at_which_the_strict_mode_refuses() -> None:
    text = resources.files("harness.cluster").joinpath("audit-policy.yaml").read_text()
    rules = yaml.safe_load(text)["rules"]

    writing = [rule for rule in rules if "create" in rule.get("verbs", ())]
    assert [rule["level"] for rule in writing] == ["Metadata", "RequestResponse", "Request"]
    assert not any("omitStages" in rule for rule in writing)
    assert "omitStages" not in yaml.safe_load(text)


def test_nothing_that_a_service_account_does_goes_unrecorded() -> None:
    text = resources.files("harness.cluster").joinpath("audit-policy.yaml").read_text()

    silent = [rule for rule in yaml.safe_load(text)["rules"] if rule["level"] == "None"]
    users = {user for rule in silent for user in rule.get("users", ())}
    assert users == {"system:apiserver", "system:kube-controller-manager"}
    assert not any("userGroups" in rule for rule in silent)
    assert all("users" in rule or "nonResourceURLs" in rule for rule in silent)


def _cluster(tmp_path: Path, audit: Path | None) -> Cluster:
    return Cluster(
        provider="embedded",
        name="one",
        kubeconfig=tmp_path / "kubeconfig",
        server="https://127.0.0.1:1",
        ca_pem=b"ca",
        capabilities=frozenset({"audit", "webhook"}),
        versions={"kubernetes": "v1.37.2"},
        audit_log_path=audit,
        state_dir=tmp_path,
        webhook_port=2,
        webhook_ca_pem=b"ca2",
    )


def test_a_cluster_is_read_as_it_was_written(tmp_path: Path) -> None:
    for audit in (None, tmp_path / "audit.log"):
        cluster = _cluster(tmp_path, audit)

        cluster.save(tmp_path / "cluster.json")

        assert Cluster.load(tmp_path / "cluster.json") == cluster
        assert (tmp_path / "cluster.json").stat().st_mode & 0o777 == 0o600


def test_a_cluster_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    _cluster(tmp_path, None).save(path)
    value = json.loads(path.read_text())
    del value["webhook_port"]
    path.write_text(json.dumps(value))

    with pytest.raises(ClusterError) as caught:
        Cluster.load(path)

    assert str(caught.value) == f"{path}: no key 'webhook_port'"


def test_the_table_of_providers_is_what_the_command_line_offers() -> None:
    assert tuple(PROVIDERS) == CLUSTER_NAMES


def test_a_cluster_without_a_laboratory_gets_none_of_its_services() -> None:
    for name in ("embedded", "kind"):
        with_it, without = (PROVIDERS[name](Named(laboratory=wanted)) for wanted in (True, False))

        assert _serves_the_laboratory(with_it)
        assert not _serves_the_laboratory(without)


def _serves_the_laboratory(provider: ClusterProvider) -> bool:
    if isinstance(provider, EmbeddedProvider):
        return provider._webhook_argv is not None
    assert isinstance(provider, KindProvider)
    return provider._laboratory


def test_a_start_is_refused_at_once_where_the_disk_is_as_good_as_full(tmp_path: Path) -> None:
    with pytest.raises(ClusterError) as caught:
        start_control_plane(
            tmp_path, binaries={}, webhook_argv=None, measure_free=lambda _: START_FREE_BYTES - 1
        )

    assert str(caught.value) == (
        f"{tmp_path}: no space left on device: 255 MiB free, 256 MiB needed"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_kubeconfig_is_held_until_somebody_asks_for_it(tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text("who and where")
    held = HeldKubeconfig(tmp_path / "kubeconfig")
    mode = held.path.stat().st_mode & 0o777

    early = held.release()
    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(held.path.read_text)
        wait_until(held.release, bool, what="the reader", timeout_s=10, interval_s=0.01)
        read = reader.result(10)

    assert not early
    assert read == "who and where"
    assert mode == 0o600
    assert not held.path.exists()


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (
            "write audit.log: no space left on device",
            pytest.raises(ClusterError, match="no space left"),
        ),
        (
            "retry later: error adding watch for file server.crt: no space left on device",
            nullcontext(),
        ),
    ],
)
def test_a_full_disk_is_told_from_a_user_who_may_watch_no_more_files(
    tmp_path: Path, pki: Pki, said: str, outcome: AbstractContextManager[object]
) -> None:
    with Child(["true"], env={}) as child:
        plane = ControlPlane(
            state_dir=tmp_path,
            pki=pki,
            ports=_PORTS,
            children={"kube-apiserver": child},
            webhook_argv=None,
        )
        log = plane.log_path("kube-apiserver")
        log.parent.mkdir()
        log.write_text(f"started\n{said}\nwent on\n")

        with outcome:
            plane.check_space()


def test_a_kubeconfig_to_carry_away_has_everything_inside(pki: Pki, tmp_path: Path) -> None:
    pki.write(tmp_path)
    path = tmp_path / "kubeconfig"
    write_kubeconfig(
        path,
        server="https://127.0.0.1:1",
        ca_path=tmp_path / "serving-ca.crt",
        client_certificate=(tmp_path / "admin.crt", tmp_path / "admin.key"),
    )

    value = json.loads(with_contents(path))

    user = value["users"][0]["user"]
    assert sorted(user) == ["client-certificate-data", "client-key-data"]
    assert base64.b64decode(user["client-key-data"]) == pki.admin.key_pem
    assert value["clusters"][0]["cluster"] == {
        "server": "https://127.0.0.1:1",
        "certificate-authority-data": base64.b64encode(pki.serving_ca_pem).decode(),
    }


def test_what_plays_nodes_listens_nowhere_and_acts_under_a_name_of_its_own(pki: Pki) -> None:
    scheduler = scheduler_argv(Path("/bin/kube-scheduler"), kubeconfig=Path("/k"))
    kwok = kwok_argv(Path("/bin/kwok"), kubeconfig=Path("/k"), stages=Path("/stages"))

    assert "--secure-port=0" in scheduler
    assert not any("port" in arg or "server-address" in arg for arg in kwok)
    assert len({pki.admin.cert_pem, pki.kwok.cert_pem, pki.scheduler.cert_pem}) == 3


def _node(*, ready: str = "True", taints: list[dict[str, str]] | None = None) -> dict[str, object]:
    spec = {"taints": taints} if taints else {}
    return {"spec": spec, "status": {"conditions": [{"type": "Ready", "status": ready}]}}


@pytest.mark.parametrize(
    ("nodes", "verdict"),
    [
        ([_node(), _node()], "ok"),
        ([_node()], "1 of 2 nodes can be used"),
        ([_node(), _node(ready="Unknown")], "1 of 2 nodes can be used"),
        ([_node(), _node(taints=[{"effect": "NoSchedule"}])], "1 of 2 nodes can be used"),
        ([{"spec": {}, "status": {}}], "0 of 2 nodes can be used"),
    ],
)
def test_nodes_are_there_when_pods_can_be_bound_to_all_of_them(
    nodes: list[dict[str, object]], verdict: str
) -> None:
    answer = 200, json.dumps({"items": nodes}).encode()

    assert nodes_verdict(2, answer) == verdict


def test_a_node_that_is_there_already_is_no_trouble_and_a_refusal_is_told() -> None:
    def answering(status: int) -> str:
        return create_nodes(1, lambda _path, _body: (status, b"why"))

    assert [answering(status) for status in (201, 409)] == ["ok", "ok"]
    assert answering(403) == "node-0: 403 why"
