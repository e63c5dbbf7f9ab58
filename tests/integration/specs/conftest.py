"""The platform stack on a cluster of its own: other tests make their own rules for theirs."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme

from harness.cluster.embedded.ephemeral import EphemeralCluster
from harness.cluster.embedded.ports import free_ports
from harness.cluster.provider import Cluster
from harness.cluster.services import LabProcess, start_webhook
from harness.cluster.toolchain import Toolchain
from harness.core.naming import CANARY_NAMESPACE
from harness.kube.client import KubeClient
from harness.specs.engine import Probe
from harness.specs.loader import LoadedSpec, load_specs
from harness.terraform.engine import engine_environment, find_engine
from harness.terraform.stack import Stack

ROOT = Path(__file__).resolve().parents[3]

#: What the specs' placeholders stand for: the platform stack's own default.
VALUES: Mapping[str, Any] = {"canary_namespace": CANARY_NAMESPACE}


class Webhook:
    """The laboratory's webhook, with an authority of its own; it can be ended and started."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.port = free_ports(1)[0]
        self.ca = trustme.CA()
        self._cluster = cluster
        self._folder = folder
        self._process: LabProcess | None = None
        issued = self.ca.issue_cert("127.0.0.1")
        issued.private_key_pem.write_to_path(folder / "key.pem")
        for blob in issued.cert_chain_pems:
            blob.write_to_path(folder / "cert.pem", append=True)

    def start(self) -> None:
        self._process = start_webhook(log_path=self._folder / "webhook.log")
        self._process.configure(
            {
                "port": self.port,
                "cert_path": str(self._folder / "cert.pem"),
                "key_path": str(self._folder / "key.pem"),
                "kubeconfig_path": str(self._cluster.kubeconfig),
            }
        )
        self._process.ready()

    def end(self) -> None:
        if self._process is not None:
            self._process.end(at_once=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A cluster with the platform stack applied, and its webhook."""

    cluster: Cluster
    client: KubeClient
    probe: Probe
    webhook: Webhook


@pytest.fixture(scope="session")
def platform(
    binaries: dict[str, Path], toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    work = tmp_path_factory.mktemp("platform")
    started = EphemeralCluster(
        tmp_path_factory.mktemp("home"), binaries=binaries, webhook_argv=None
    )
    with started as cluster:
        client = KubeClient.from_kubeconfig(cluster.kubeconfig)
        webhook = Webhook(cluster, work)
        try:
            webhook.start()
            _apply(toolchain, cluster, webhook, work)
            capabilities = cluster.capabilities | {"webhook"}
            yield Platform(
                cluster=cluster,
                client=client,
                probe=Probe.of(client, CANARY_NAMESPACE, capabilities),
                webhook=webhook,
            )
        finally:
            client.close()
            webhook.end()


def _apply(toolchain: Toolchain, cluster: Cluster, webhook: Webhook, work: Path) -> None:
    engine = find_engine(
        explicit=None,
        search_path=os.environ["PATH"],
        plugin_mirror=toolchain.provider_mirror(),
    )
    assert engine is not None, "these tests need terraform or tofu on PATH"
    stack = Stack.create(
        engine,
        root=ROOT,
        stack="platform",
        work_dir=work / "stack",
        values={
            "webhook_url": f"https://127.0.0.1:{webhook.port}",
            "webhook_ca_bundle": base64.b64encode(webhook.ca.cert_pem.bytes()).decode(),
        },
        environment=engine_environment(
            engine,
            work_dir=work,
            extra={"KUBE_CONFIG_PATH": str(cluster.kubeconfig)},
            ambient=os.environ,
        ),
        log_path=work / "terraform.log",
    )
    stack.init()
    stack.apply(stack.plan())


@pytest.fixture(scope="session")
def specs() -> tuple[LoadedSpec, ...]:
    return load_specs(ROOT / "policies", lambda _: VALUES)
