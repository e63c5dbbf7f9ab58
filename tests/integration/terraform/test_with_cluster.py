"""Stacks whose things are in a cluster: it goes away, its provider crashes, it keeps the state."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.cluster.embedded.ports import free_ports
from harness.cluster.provider import Cluster
from harness.cluster.toolchain import Toolchain
from harness.core.waiting import wait_until
from harness.kube.client import KubeClient
from harness.kube.resources import CONFIG_MAPS, NAMESPACES, SECRETS, Resource
from harness.terraform.commands import Limits
from harness.terraform.engine import Engine, engine_environment, load_engine
from harness.terraform.outcomes import Outcome, TerraformOutcomeError
from harness.terraform.stack import Stack

_NAMESPACE = "runner-at-work"

_LEASES = Resource(group="coordination.k8s.io", version="v1", plural="leases", kind="Lease")

_VERSIONS = """
terraform {
  required_providers {
    kubectl = { source = "gavinbunney/kubectl" }
  }
}
provider "kubectl" {
  apply_retry_count = 1
}
"""


def _config_map(name: str, *, after: str = "") -> str:
    return (
        f'resource "kubectl_manifest" "{name}" {{\n'
        + (f"  depends_on = [{after}]\n" if after else "")
        + '  yaml_body = yamlencode({ apiVersion = "v1", kind = "ConfigMap",\n'
        f'    metadata = {{ name = "{name}", namespace = "{_NAMESPACE}" }} }})\n}}\n'
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A namespace, and stacks that work in it."""

    client: KubeClient
    make: Callable[..., Stack]
    unreachable: Callable[[Stack], Stack]


@pytest.fixture(scope="module")
def client(cluster: Cluster) -> Iterator[KubeClient]:
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as found:
        found.create(NAMESPACES, {"metadata": {"name": _NAMESPACE}})
        yield found
        found.delete(NAMESPACES, _NAMESPACE)


@pytest.fixture
def world(
    cluster: Cluster, client: KubeClient, toolchain: Toolchain, engine: Engine, tmp_path: Path
) -> World:
    mirrored = load_engine(engine.path, plugin_mirror=toolchain.provider_mirror())

    def environment(kubeconfig: Path) -> Mapping[str, str]:
        extra = {"KUBE_CONFIG_PATH": str(kubeconfig)}
        return engine_environment(mirrored, work_dir=tmp_path, extra=extra, ambient=os.environ)

    def make(text: str, *, name: str = "world") -> Stack:
        source = tmp_path / f"{name}-source"
        source.mkdir()
        (source / "main.tf").write_text(text)
        stack = Stack.create(
            mirrored,
            stack_dir=source,
            policies_dir=None,
            work_dir=tmp_path / name,
            values={},
            environment=environment(cluster.kubeconfig),
            log_path=tmp_path / "terraform.log",
            limits=Limits(lock_s=0.5),
        )
        stack.init()
        return stack

    def unreachable(stack: Stack) -> Stack:
        text = cluster.kubeconfig.read_text()
        dead = tmp_path / "dead-kubeconfig"
        dead.write_text(text.replace(cluster.server, f"https://127.0.0.1:{free_ports(1)[0]}"))
        return Stack(
            mirrored,
            work_dir=stack.work_dir,
            environment=environment(dead),
            log_path=tmp_path / "terraform.log",
        )

    return World(client=client, make=make, unreachable=unreachable)


def test_only_the_word_that_the_cluster_is_gone_drops_what_was_in_it(world: World) -> None:
    stack = world.make(_VERSIONS + _config_map("held") + 'resource "terraform_data" "else" {}\n')
    stack.apply(stack.plan())
    resources, manifests = stack.resources, stack.manifests()
    cut_off = world.unreachable(stack)

    with pytest.raises(TerraformOutcomeError) as caught:
        cut_off.destroy()
    kept = cut_off.resources
    cut_off.destroy(cluster_gone=True)
    held = world.client.get(CONFIG_MAPS, "held", namespace=_NAMESPACE)

    assert resources == ("kubectl_manifest.held", "terraform_data.else")
    assert [(one.name, one.uid) for one in manifests] == [("held", held["metadata"]["uid"])]
    assert caught.value.outcome is Outcome.FAILED
    assert "connection refused" in str(caught.value)
    assert "kubectl_manifest.held" in kept
    assert cut_off.resources == ()
    world.client.delete(CONFIG_MAPS, "held", namespace=_NAMESPACE)


def test_a_provider_that_dies_during_an_apply_leaves_nothing_trusted(world: World) -> None:
    killer = (
        'resource "terraform_data" "killer" {\n  depends_on = [kubectl_manifest.whole]\n'
        '  provisioner "local-exec" {\n'
        '    command = "for p in $(cat /proc/$PPID/task/*/children); do '
        'case $(readlink /proc/$p/exe) in *provider*) kill -9 $p;; esac; done; true"\n  }\n}\n'
    )
    stack = world.make(
        _VERSIONS
        + _config_map("whole")
        + killer
        + _config_map("never", after="terraform_data.killer")
    )

    with pytest.raises(TerraformOutcomeError) as caught:
        stack.apply(stack.plan())
    plan = stack.plan()

    assert caught.value.outcome is Outcome.PROVIDER_CRASHED
    assert caught.value.hint == "plan again: what the provider was making is replaced"
    assert plan.replaced == ("kubectl_manifest.never",)
    stack.apply(plan)
    stack.destroy()
    assert stack.resources == ()


def _backend(suffix: str) -> str:
    return (
        'terraform {\n  backend "kubernetes" {\n'
        f'    secret_suffix = "{suffix}"\n    namespace     = "{_NAMESPACE}"\n  }}\n}}\n'
    )


_SLOW = (
    'variable "nap" {\n  type    = number\n  default = 60\n}\n'
    'resource "terraform_data" "slow" {\n'
    '  provisioner "local-exec" { command = "echo $PPID > ../engine.pid; sleep ${var.nap}" }\n}\n'
)


def test_a_lock_that_a_killed_apply_left_in_the_cluster_names_its_holder_and_is_given_back(
    world: World,
) -> None:
    stack = world.make(_backend("killed") + _SLOW)
    plan = stack.plan()

    def apply() -> None:
        with contextlib.suppress(TerraformOutcomeError):
            stack.apply(plan)

    applying = threading.Thread(target=apply)
    applying.start()
    pid_file = stack.work_dir / "source" / ".." / "engine.pid"
    wait_until(pid_file.exists, bool, what="the slow resource", timeout_s=20)
    os.kill(int(pid_file.read_text()), signal.SIGKILL)
    applying.join()

    with pytest.raises(TerraformOutcomeError) as caught:
        stack.plan()
    lock = caught.value.lock
    assert lock is not None
    lease = world.client.get(_LEASES, "lock-tfstate-default-killed", namespace=_NAMESPACE)
    stranger = world.make(_backend("killed") + _SLOW, name="stranger")
    with pytest.raises(TerraformOutcomeError) as refused:
        stranger.apply()
    with pytest.raises(TerraformOutcomeError) as destroyed:
        stack.destroy()
    freed = world.client.get(_LEASES, "lock-tfstate-default-killed", namespace=_NAMESPACE)

    assert caught.value.outcome is Outcome.LOCKED
    assert lock.lock_id == lease["spec"]["holderIdentity"]
    assert " for OperationTypeApply " in str(caught.value)
    assert f" s ago, lock {lock.lock_id}" in str(caught.value)
    assert refused.value.outcome is Outcome.LOCKED
    assert destroyed.value.outcome is Outcome.NOT_IN_STATE
    assert "terraform_data.slow" in str(destroyed.value)
    assert not freed["spec"].get("holderIdentity")


def test_a_state_that_a_backend_keeps_is_held_to_the_journal_too(world: World) -> None:
    text = _backend("kept") + 'resource "terraform_data" "a" {}\n'
    stack = world.make(text)
    stack.apply(stack.plan())
    other = world.make(text, name="other")

    with pytest.raises(TerraformOutcomeError) as foreign:
        other.plan()
    other.destroy()
    resources = stack.resources
    world.client.delete(SECRETS, "tfstate-default-kept", namespace=_NAMESPACE)
    with pytest.raises(TerraformOutcomeError) as lost:
        stack.destroy()

    assert foreign.value.outcome is Outcome.STATE_FOREIGN
    assert resources == ("terraform_data.a",)
    assert lost.value.outcome is Outcome.STATE_LOST
