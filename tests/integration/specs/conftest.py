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
from harness.cluster.services.processes import LabProcess, start_webhook
from harness.cluster.toolchain import Toolchain
from harness.core.naming import CANARY_NAMESPACE
from harness.core.waiting import wait_until
from harness.kube.client import KubeClient
from harness.kube.resources import NAMESPACES
from harness.kube.snapshot import fingerprint
from harness.specs.loader import LoadedSpec, load_specs
from harness.specs.probe import Probe
from harness.terraform.engine import engine_environment, load_engine
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
        """Start it, and wait until it serves."""
        self._process = start_webhook(log_path=self._folder / "webhook.log")
        self._process.configure(
            {
                "host": "127.0.0.1",
                "port": self.port,
                "cert_path": str(self._folder / "cert.pem"),
                "key_path": str(self._folder / "key.pem"),
                "kubeconfig_path": str(self._cluster.kubeconfig),
                "harness_user": "",
            }
        )
        self._process.ready()

    def end(self) -> None:
        """End it. Idempotent."""
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
            values = {
                "webhook_url": f"https://127.0.0.1:{webhook.port}",
                "webhook_ca_bundle": base64.b64encode(webhook.ca.cert_pem.bytes()).decode(),
            }
            stack = _stack(toolchain, cluster, "platform", values, work)
            stack.init()
            stack.apply(stack.plan())
            fingerprint(client, "")  # until the storage of every new kind is there
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


@pytest.fixture
def laboratory(platform: Platform, toolchain: Toolchain, tmp_path: Path) -> Iterator[Platform]:
    """A namespace as an attempt has it: Terraform made it, and no controller runs yet."""
    namespace = "lab-5bec0001"
    values = {"namespace": namespace, "run_id": "20260101-000000-5bec00", "attempt_id": "5bec0001"}
    stack = _stack(toolchain, platform.cluster, "color_lab", values, tmp_path)
    stack.init()
    stack.apply(stack.plan())
    yield Platform(
        cluster=platform.cluster,
        client=platform.client,
        probe=Probe.of(platform.client, namespace, platform.probe.capabilities),
        webhook=platform.webhook,
    )
    stack.destroy()
    wait_until(
        lambda: platform.client.find(NAMESPACES, namespace),
        lambda found: found is None,
        what=f"the end of namespace {namespace}",
        timeout_s=30,
    )


def manifest_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object as it can be created again."""
    metadata = {key: found["metadata"][key] for key in ("name", "labels")}
    return {**{key: found[key] for key in found if key != "status"}, "metadata": metadata}


def _stack(
    toolchain: Toolchain, cluster: Cluster, name: str, values: Mapping[str, Any], work: Path
) -> Stack:
    engine = load_engine(toolchain.ensure_terraform(), plugin_mirror=toolchain.provider_mirror())
    environment = engine_environment(
        engine,
        work_dir=work,
        extra={"KUBE_CONFIG_PATH": str(cluster.kubeconfig)},
        ambient=os.environ,
    )
    return Stack.create(
        engine,
        stack_dir=ROOT / "tf" / "stacks" / name,
        policies_dir=ROOT / "policies",
        work_dir=work / name,
        values=values,
        environment=environment,
        log_path=work / "terraform.log",
    )


@pytest.fixture(scope="session")
def specs() -> tuple[LoadedSpec, ...]:
    return load_specs(ROOT / "policies", lambda _: VALUES)
