"""The pure parts of the embedded control plane: flags, certificates, files, ports."""

from __future__ import annotations

import json
import ssl
from importlib import resources
from pathlib import Path

import pytest
import yaml

from harness.cli.options import CLUSTER_NAMES
from harness.cluster.embedded.flags import (
    Ports,
    api_server_argv,
    controller_manager_argv,
    etcd_argv,
)
from harness.cluster.embedded.pki import Pki, build_pki
from harness.cluster.embedded.ports import PORT_RANGE, free_ports
from harness.cluster.embedded.probe import client_context, https_get
from harness.cluster.kubeconfig import write_kubeconfig
from harness.cluster.provider import Cluster
from harness.cluster.providers import PROVIDERS
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
    assert len(files) == 3 + 2 * 8


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
