"""A provision of somebody's own stack that was killed at any point is taken down by its records."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.bench.inventory import read_inventory
from harness.bench.platform_sweep import WORKING_COPY, PlatformSwept, sweep_platform
from harness.bench.session import open_stack
from harness.bench.teardown import settle
from harness.cluster.existing.provider import INVENTORY_FILE
from harness.cluster.provider import Cluster
from harness.core.child import Child
from harness.core.files import write_json
from harness.core.process import scrubbed_environment
from harness.core.waiting import wait_until
from harness.errors import HarnessError
from harness.kube.client import KubeClient
from harness.kube.identity_guard import ProvenClient, prove_identity
from harness.kube.resources import CLUSTER_ROLES, CONFIG_MAPS, NAMESPACES
from harness.terraform.stack import Stack
from tests.integration.bench.applied_stack import find_engine

ROOT = Path(__file__).resolve().parents[3]

#: Seconds for one test: an init, an apply and a destroy on a busy machine.
pytestmark = pytest.mark.timeout(180)

_STACK = """\
terraform {
  required_providers {
    kubectl = { source = "gavinbunney/kubectl", version = "1.19.0" }
  }
}
variable "word" { type = string }
resource "kubectl_manifest" "namespace" {
  yaml_body = yamlencode({ apiVersion = "v1", kind = "Namespace", metadata = { name = var.word } })
}
resource "kubectl_manifest" "inside" {
  depends_on = [kubectl_manifest.namespace]
  count      = 8
  yaml_body = yamlencode({
    apiVersion = "v1", kind = "ConfigMap"
    metadata = { name = "inside-${count.index}", namespace = var.word }
  })
}
resource "kubectl_manifest" "role" {
  depends_on = [kubectl_manifest.inside]
  yaml_body = yamlencode({
    apiVersion = "rbac.authorization.k8s.io/v1", kind = "ClusterRole"
    metadata = { name = var.word }, rules = []
  })
}
resource "kubectl_manifest" "taken_over" {
  depends_on = [kubectl_manifest.role]
  yaml_body = yamlencode({
    apiVersion = "v1", kind = "ConfigMap"
    metadata = { name = var.word, namespace = "default" }, data = { whose = "the stack's" }
  })
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A stack, a cluster, and a state folder of their own."""

    cluster: Cluster
    client: ProvenClient
    stack_dir: Path
    word: str

    @property
    def file(self) -> Path:
        """What the process that applies is given."""
        return self.cluster.state_dir / "cluster.json"

    def start(self) -> Child:
        """Begin to apply; leave the block to end it."""
        script = ROOT / "tests/integration/bench/applied_stack.py"
        return Child(
            [sys.executable, str(script), str(self.file), str(self.stack_dir)],
            env=scrubbed_environment({"PYTHONPATH": str(ROOT)}, ambient=os.environ),
            stderr_path=self.cluster.state_dir / "stderr",
        )

    def sweep(self) -> PlatformSwept:
        """Sweep as a teardown does: what was made beside the state is settled first."""
        state_dir, stack = self.cluster.state_dir, self.stack()
        known = settle(stack, state_dir) if stack else ()
        return sweep_platform(self.client, state_dir=state_dir, stack=stack, known=known)

    def stack(self) -> Stack | None:
        """Return the working copy, if it can be taken up."""
        work_dir = self.cluster.state_dir / WORKING_COPY
        try:
            return open_stack(engine=find_engine(), cluster=self.cluster, work_dir=work_dir)
        except HarnessError:
            return None

    def standing(self) -> list[str]:
        """Return which of the stack's own objects are there."""
        places = ((NAMESPACES, None), (CLUSTER_ROLES, None))
        return [
            kind.plural
            for kind, place in places
            if self.client.find(kind, self.word, namespace=place)
        ]


@pytest.fixture
def desk(cluster: Cluster, tmp_path: Path) -> Desk:
    state_dir = tmp_path / "state"
    (state_dir / "logs").mkdir(parents=True)
    word = f"own-{secrets.token_hex(3)}"
    own = replace(cluster, state_dir=state_dir)
    own.save(state_dir / "cluster.json")
    write_json(state_dir / "values.json", {"word": word})
    stack_dir = tmp_path / "stack"
    stack_dir.mkdir()
    (stack_dir / "main.tf").write_text(_STACK)
    client = KubeClient.from_kubeconfig(cluster.kubeconfig)
    return Desk(
        cluster=own,
        client=prove_identity(client, client.identity()),
        stack_dir=stack_dir,
        word=word,
    )


def _before_the_apply(desk: Desk) -> bool:
    return any((desk.cluster.state_dir / WORKING_COPY).rglob(".terraform"))


def _in_the_middle(desk: Desk) -> bool:
    return "namespaces" in desk.standing()


def _after_the_last_object(desk: Desk) -> bool:
    found = desk.client.get(CONFIG_MAPS, desk.word, namespace="default")
    return "data" in found


@pytest.mark.parametrize("moment", [_before_the_apply, _in_the_middle, _after_the_last_object])
def test_what_a_killed_provision_made_goes_and_what_it_took_over_stays(
    desk: Desk, moment: Callable[[Desk], bool]
) -> None:
    with closing(desk.client) as client:
        theirs = {"metadata": {"name": desk.word}}
        before = client.create(CONFIG_MAPS, theirs, namespace="default")
        recorded = desk.cluster.state_dir / INVENTORY_FILE
        with desk.start() as applying:
            wait_until(
                lambda: moment(desk),
                bool,
                what=f"the moment {moment.__name__}",
                timeout_s=90,
                interval_s=0.01,
            )
            applying.crash()
            assert applying.wait(60)

        unrecorded = not recorded.exists()
        swept = desk.sweep()
        again = desk.sweep()

        assert unrecorded
        # Where no label can be told from ours, all that carry it are named; other tests have such.
        assert [left for left in swept.leftovers if desk.word in left.object] == []
        assert desk.standing() == []
        assert read_inventory(desk.cluster.state_dir) is None, (swept, again)
        own = [left for left in again.leftovers if desk.word in left.object]
        assert (again.deleted, own) == (0, [])
        found = client.get(CONFIG_MAPS, desk.word, namespace="default")
        assert found["metadata"]["uid"] == before["metadata"]["uid"]
        client.delete(CONFIG_MAPS, desk.word, namespace="default")
