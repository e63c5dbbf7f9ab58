"""A stack of somebody's own on a cluster of somebody's own: it comes, is proved, and goes."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from harness.bench.record import RECORD_FILE, read_record
from harness.cli.main import strandline
from harness.cluster.provider import Cluster
from harness.cluster.toolchain import Toolchain
from harness.core.naming import LABEL_PREFIX
from harness.errors import ConfigError, HarnessError
from harness.kube.client import KubeClient
from harness.kube.resources import CONFIG_MAPS, NAMESPACES, VALIDATING_POLICIES

pytestmark = pytest.mark.timeout(300)

_STACK = Path(__file__).resolve().parents[3] / "examples" / "guarded-namespace" / "stack"

#: Refuses every new ConfigMap of a guarded namespace: nobody listens there.
_DEAD_WEBHOOK = """
resource "kubectl_manifest" "dead" {
  depends_on = [kubectl_manifest.about]

  yaml_body = yamlencode({
    apiVersion = "admissionregistration.k8s.io/v1"
    kind       = "ValidatingWebhookConfiguration"
    metadata   = { name = "dead" }
    webhooks = [{
      name                    = "dead.example.com"
      admissionReviewVersions = ["v1"]
      sideEffects             = "None"
      failurePolicy           = "Fail"
      timeoutSeconds          = 1
      clientConfig            = { url = "https://127.0.0.1:1/" }
      namespaceSelector       = { matchLabels = { "example.com/guarded" = "true" } }
      rules = [{
        apiGroups = [""], apiVersions = ["*"], operations = ["CREATE"], resources = ["configmaps"]
      }]
    }]
  })
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Somebody with a cluster, a context for it, and a list of allowed contexts."""

    folder: Path
    context: str
    server: str
    kubeconfig: Path
    kubectl: Path

    def allow(self) -> None:
        """Put the context on the list."""
        path = self.folder / "strandline" / "allowed-contexts.yaml"
        path.parent.mkdir()
        path.write_text(
            json.dumps({"contexts": [{"context": self.context, "server": self.server}]})
        )

    def type(self, *words: str) -> Any:
        """Run a command, and return the JSON that it printed."""
        env = {
            "STRANDLINE_HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.folder),
            "PATH": f"{self.kubectl.parent}:/usr/local/bin:/usr/bin:/bin",
        }
        named = ("--cluster", "existing", "--context", self.context)
        result = CliRunner(env=env).invoke(
            strandline,
            [*words, *named, "--kubeconfig", str(self.kubeconfig), "--json"],
            standalone_mode=False,
        )
        if isinstance(result.exception, HarnessError):
            raise result.exception
        return json.loads(result.stdout)


@pytest.fixture
def owner(cluster: Cluster, toolchain: Toolchain, tmp_path: Path) -> Owner:
    return Owner(
        folder=tmp_path,
        context=yaml.safe_load(cluster.kubeconfig.read_text())["current-context"],
        server=cluster.server,
        kubeconfig=cluster.kubeconfig,
        kubectl=toolchain.ensure(["kubectl"])["kubectl"],
    )


@pytest.fixture
def neighbour(client: KubeClient) -> Iterator[dict[str, Any]]:
    """A namespace of the owner's, and an object in it: nothing of either may change."""
    name = f"neighbour-{secrets.token_hex(4)}"
    namespace = client.create(NAMESPACES, {"metadata": {"name": name}})
    kept = client.create(CONFIG_MAPS, {"metadata": {"name": "kept"}}, namespace=name)
    yield {"name": name, "uid": namespace["metadata"]["uid"], "kept": kept}
    client.delete(NAMESPACES, name)


@pytest.fixture
def client(cluster: Cluster) -> Iterator[KubeClient]:
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        yield client


def test_a_stack_comes_and_goes_and_nothing_of_the_owners_is_touched(
    owner: Owner, client: KubeClient, neighbour: dict[str, Any]
) -> None:
    owner.allow()

    provisioned = owner.type("provision", "--stack", str(_STACK), "--var", "namespace=visiting")
    labels = client.get(NAMESPACES, "visiting")["metadata"]["labels"]
    ended = owner.type("teardown")

    assert (provisioned["held"], provisioned["broken"], provisioned["unknown"]) == (7, 0, 0)
    assert not [name for name in labels if name.startswith(LABEL_PREFIX)]
    assert ended["leftovers"] == []
    assert client.find(NAMESPACES, "visiting") is None
    assert client.find(VALIDATING_POLICIES, "images-are-ours") is None
    assert client.get(CONFIG_MAPS, "kept", namespace=neighbour["name"]) == neighbour["kept"]
    assert not (owner.folder / "home").exists()


def test_what_stood_there_before_the_stack_took_it_over_stays(
    owner: Owner, client: KubeClient, neighbour: dict[str, Any]
) -> None:
    owner.allow()
    name = neighbour["name"]

    owner.type("provision", "--stack", str(_STACK), "--var", f"namespace={name}")
    owner.type("teardown")

    after = client.get(NAMESPACES, name)["metadata"]
    assert (after["uid"], "deletionTimestamp" in after) == (neighbour["uid"], False)
    assert client.get(CONFIG_MAPS, "kept", namespace=name) == neighbour["kept"]
    assert client.find(CONFIG_MAPS, "about", namespace=name) is None


def test_a_begun_stack_is_taken_up_although_its_own_registration_blocks_and_its_server_is_gone(
    owner: Owner, client: KubeClient, tmp_path: Path
) -> None:
    owner.allow()
    project = Path(shutil.copytree(_STACK.parent, tmp_path / "project"))
    with (project / "stack" / "main.tf").open("a") as file:
        file.write(_DEAD_WEBHOOK)
    named = ("--stack", str(project / "stack"), "--var", "namespace=blocked")
    owner.type("provision", *named)
    (record_file,) = (owner.folder / "home").rglob(RECORD_FILE)
    record = read_record(record_file.parent)
    assert record is not None
    record.write(record_file.parent, complete=False)  # as a kill leaves it
    client.delete(CONFIG_MAPS, "about", namespace="blocked")

    taken_up = owner.type("provision", *named)
    about = client.find(CONFIG_MAPS, "about", namespace="blocked")
    ended = owner.type("teardown")

    assert taken_up["held"] == 7
    assert about is not None
    assert ended["leftovers"] == []


def test_a_context_that_nobody_allowed_is_not_touched(owner: Owner, client: KubeClient) -> None:
    with pytest.raises(ConfigError) as caught:
        owner.type("provision", "--stack", str(_STACK), "--var", "namespace=visiting")

    assert f"context {owner.context!r} is not allowed" in caught.value.message
    assert client.find(NAMESPACES, "visiting") is None
    assert not (owner.folder / "home").exists()
