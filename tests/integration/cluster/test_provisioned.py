"""A cluster that outlives its maker, with the real binaries and a stand-in for the webhook."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.embedded.probe import client_context, https_get
from harness.cluster.embedded.provider import EmbeddedProvider
from harness.cluster.embedded.provisioned import why_ended
from harness.cluster.home import read_ledger
from harness.cluster.provider import Cluster
from harness.cluster.toolchain import Toolchain
from harness.core.waiting import wait_until
from harness.errors import ClusterError

_STAND_IN = """
import json, sys, time
config = json.loads(sys.stdin.readline())
print("ready", json.dumps({"port": config["port"]}), flush=True)
time.sleep(1000)
"""
_WEBHOOK = [sys.executable, "-c", _STAND_IN]


def _alive(cluster: Cluster) -> list[str]:
    ledger = read_ledger(cluster.state_dir)
    return [name for name, one in ledger.processes.items() if one.alive] if ledger else []


def _readyz(cluster: Cluster) -> int:
    pki = cluster.state_dir / "pki"
    context = client_context(ca=pki / "serving-ca.crt", certificate=pki / "admin.crt")
    return https_get(int(cluster.server.rpartition(":")[2]), "/readyz", context=context)[0]


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[EmbeddedProvider]:
    provider = EmbeddedProvider(webhook_argv=_WEBHOOK)
    yield provider
    provider.teardown(tmp_path)


def test_a_provisioned_cluster_is_found_again_and_taken_down_whole(
    provider: EmbeddedProvider, toolchain: Toolchain, tmp_path: Path
) -> None:
    assert provider.find(tmp_path) is None

    cluster = provider.provision(tmp_path, toolchain=toolchain, progress=print)
    again = provider.provision(tmp_path, toolchain=toolchain, progress=print)
    found = provider.find(tmp_path)
    status = _readyz(cluster)
    ledger = read_ledger(cluster.state_dir)
    provider.teardown(tmp_path)

    assert found == again == cluster
    assert status == 200
    assert "webhook" in cluster.capabilities
    assert ledger is not None
    assert len(ledger.processes) == 8
    assert [name for name, one in ledger.processes.items() if one.alive] == []
    assert not ledger.owner.alive
    assert not cluster.state_dir.exists()
    assert provider.find(tmp_path) is None
    provider.teardown(tmp_path)


def test_a_killed_supervisor_takes_everything_with_it_and_is_replaced(
    provider: EmbeddedProvider, toolchain: Toolchain, tmp_path: Path
) -> None:
    cluster = provider.provision(tmp_path, toolchain=toolchain, progress=print)
    ledger = read_ledger(cluster.state_dir)
    assert ledger is not None

    ledger.owner.signal(signal.SIGKILL)
    wait_until(
        lambda: _alive(cluster), lambda left: not left, what="end of the orphans", timeout_s=5
    )

    assert provider.find(tmp_path) is None
    replaced = provider.provision(tmp_path, toolchain=toolchain, progress=print)
    assert _readyz(replaced) == 200
    assert replaced.ca_pem != cluster.ca_pem


def test_a_part_that_dies_ends_the_rest_and_the_reason_is_kept(
    provider: EmbeddedProvider, toolchain: Toolchain, tmp_path: Path
) -> None:
    cluster = provider.provision(tmp_path, toolchain=toolchain, progress=print)
    ledger = read_ledger(cluster.state_dir)
    assert ledger is not None

    ledger.processes["kube-controller-manager-command"].signal(signal.SIGKILL)
    reason = wait_until(
        lambda: why_ended(cluster.state_dir), bool, what="reason of the end", timeout_s=10
    )
    wait_until(lambda: ledger.owner.alive, lambda alive: not alive, what="end", timeout_s=5)

    assert reason is not None
    assert reason.startswith("kube-controller-manager exited -9: ")
    assert _alive(cluster) == []
    assert provider.find(tmp_path) is None


def test_a_webhook_that_crashes_is_started_again_on_its_port(
    provider: EmbeddedProvider, toolchain: Toolchain, tmp_path: Path
) -> None:
    cluster = provider.provision(tmp_path, toolchain=toolchain, progress=print)
    before = read_ledger(cluster.state_dir)
    assert before is not None
    old = before.processes["webhook"]

    before.processes["webhook-command"].signal(signal.SIGKILL)
    after = wait_until(
        lambda: read_ledger(cluster.state_dir),
        lambda now: now is not None and now.processes.get("webhook") not in {None, old},
        what="another webhook",
        timeout_s=10,
    )

    assert after is not None
    assert after.processes["webhook"].alive
    assert provider.find(tmp_path) == cluster


def test_a_cluster_that_cannot_start_says_why_and_leaves_nothing(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    provider = EmbeddedProvider(webhook_argv=["/bin/sh", "-c", "echo no port >&2; exit 4"])

    with pytest.raises(ClusterError) as caught:
        provider.provision(tmp_path, toolchain=toolchain, progress=print)

    assert str(caught.value) == (
        "the supervisor ended before its cluster was ready: webhook exited 4: no port"
    )
    assert list((tmp_path / "clusters").iterdir()) == []
