"""An embedded cluster as somebody's own: named, allowed, proved, and left as it was found."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme

from harness.bench.inventory import apply_recorded, read_inventory, refuse_standing_platform
from harness.bench.layout import Layout
from harness.bench.platform_sweep import PlatformSwept, sweep_platform
from harness.bench.proof import prove_cluster
from harness.bench.session import create_stack
from harness.cluster.embedded.ephemeral import EphemeralCluster
from harness.cluster.embedded.ports import free_ports
from harness.cluster.existing.provider import ExistingProvider
from harness.cluster.home import stale_state_dirs
from harness.cluster.identity import read_identity
from harness.cluster.provider import Cluster
from harness.cluster.toolchain import Toolchain
from harness.core.files import read_json
from harness.core.naming import PLATFORM_LABEL
from harness.core.waiting import wait_until
from harness.errors import AnotherClusterError, ClusterError, KubeError, TeardownError
from harness.kube.client import KubeClient
from harness.kube.resources import (
    CLUSTER_ROLES,
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    INSTRUMENTS,
    MUTATING_WEBHOOKS,
    NAMESPACES,
)
from harness.kube.snapshot import changed, fingerprint
from harness.terraform.engine import load_engine
from harness.terraform.stack import Stack

ROOT = Path(__file__).resolve().parents[3]

#: Seconds for one test: two clusters, an apply of the platform and up to four sweeps of it.
pytestmark = pytest.mark.timeout(240)

THEIRS = "theirs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody with a kubeconfig of several contexts, who allowed us one."""

    home: Path
    kubeconfig: Path
    environ: dict[str, str]
    toolchain: Toolchain

    def owns(self, cluster: Cluster) -> None:
        """Write a kubeconfig whose context `prod` is the cluster, with every key inside."""
        theirs = read_json(cluster.kubeconfig)
        user, server = theirs["users"][0]["user"], theirs["clusters"][0]["cluster"]
        inside = {
            f"{key}-data": base64.b64encode(Path(user[key]).read_bytes()).decode()
            for key in ("client-certificate", "client-key")
        }
        ca = base64.b64encode(Path(server["certificate-authority"]).read_bytes()).decode()
        value = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "another",
            "clusters": [
                {
                    "name": "c",
                    "cluster": {"server": cluster.server, "certificate-authority-data": ca},
                },
                {"name": "far", "cluster": {"server": "https://203.0.113.1:6443"}},
            ],
            "users": [{"name": "me", "user": inside}],
            "contexts": [
                {"name": "prod", "context": {"cluster": "c", "user": "me"}},
                {"name": "another", "context": {"cluster": "far", "user": "me"}},
            ],
        }
        self.kubeconfig.write_text(json.dumps(value))

    def allows(self, server: str) -> None:
        """Put `prod` on the list with a server."""
        path = Path(self.environ["XDG_CONFIG_HOME"], "strandline", "allowed-contexts.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"contexts:\n  - {{ context: prod, server: '{server}' }}\n")

    def provider(self, context: str = "prod") -> ExistingProvider:
        """Return the provider as the command line makes it."""
        return ExistingProvider(
            context=context,
            kubeconfig=self.kubeconfig,
            image="registry.test/lab:1",
            environ=self.environ,
        )

    def provision(self) -> Cluster:
        """Provision it."""
        return self.provider().provision(self.home, toolchain=self.toolchain, progress=print)


@pytest.fixture
def person(tmp_path: Path, toolchain: Toolchain) -> Person:
    kubectl = toolchain.ensure(["kubectl"])["kubectl"]
    environ = {
        "HOME": str(tmp_path),
        "PATH": f"{kubectl.parent}{os.pathsep}{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    return Person(
        home=tmp_path / "home",
        kubeconfig=tmp_path / "kubeconfig",
        environ=environ,
        toolchain=toolchain,
    )


@contextmanager
def a_cluster(binaries: dict[str, Path], home: Path, ports: tuple[int, ...]) -> Iterator[Cluster]:
    with EphemeralCluster(
        home, binaries=binaries, webhook_argv=None, pick_ports=lambda count: ports[:count]
    ) as cluster:
        yield cluster


def _platform(toolchain: Toolchain, cluster: Cluster) -> Stack:
    """Return the platform with a webhook that nobody serves: its sweep must do without."""
    engine = load_engine(toolchain.ensure_terraform(), plugin_mirror=toolchain.provider_mirror())
    layout = Layout(root=ROOT)
    stack = create_stack(
        engine=engine,
        cluster=cluster,
        stack_dir=layout.stack_dir("platform"),
        policies_dir=layout.policies_dir,
        work_dir=cluster.state_dir / "platform",
        values={
            "webhook_url": f"https://127.0.0.1:{free_ports(1)[0]}",
            "webhook_ca_bundle": base64.b64encode(trustme.CA().cert_pem.bytes()).decode(),
        },
        log_path=cluster.state_dir / "logs" / "terraform.log",
    )
    stack.init()
    return stack


def _labelled(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {PLATFORM_LABEL: "true"}}, **more}


def _sweep(client: KubeClient, cluster: Cluster, stack: Stack | None) -> PlatformSwept:
    return sweep_platform(prove_cluster(client, cluster), state_dir=cluster.state_dir, stack=stack)


def test_a_platform_is_swept_from_somebodys_cluster_which_is_left_as_it_was(
    person: Person, binaries: dict[str, Path], tmp_path: Path, toolchain: Toolchain
) -> None:
    with a_cluster(binaries, tmp_path / "other", free_ports(4)) as theirs:
        person.owns(theirs)
        person.allows(theirs.server)
        cluster = person.provision()
        with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
            client.create(NAMESPACES, {"metadata": {"name": THEIRS}})
            client.create(CLUSTER_ROLES, {"metadata": {"name": "readers"}, "rules": []})
            settled = wait_until(
                lambda: (
                    client.find(CONFIG_MAPS, "kube-root-ca.crt", namespace=THEIRS)
                    and fingerprint(client, "")
                ),
                bool,
                what="their namespace",
                timeout_s=20,
            )
            before = settled or {}
            refuse_standing_platform(client, policies=())
            stack = _platform(toolchain, cluster)
            apply_recorded(stack, cluster.state_dir)
            claimed = client.create(CONFIG_MAPS, _labelled("ours-they-say"), namespace=THEIRS)
            wait_until(
                lambda: client.create(
                    INSTRUMENTS,
                    {
                        "apiVersion": INSTRUMENTS.api_version,
                        "kind": INSTRUMENTS.kind,
                        "metadata": {"name": "scale"},
                        "spec": {"type": "balance"},
                    },
                    namespace=THEIRS,
                ),
                bool,
                what="an instrument of theirs",
                timeout_s=10,
                tolerate=(KubeError,),
            )

            with pytest.raises(ClusterError, match="a platform that is not ours stands"):
                refuse_standing_platform(client, policies=())
            with pytest.raises(TeardownError, match="it was not swept"):
                person.provider().teardown(person.home)
            held = _sweep(client, cluster, stack)

            definition = "customresourcedefinitions.apiextensions.k8s.io"
            blocker = "it defines objects of somebody's: theirs/scale"
            assert [str(left) for left in held.leftovers] == [
                f"{definition} instruments.lab.strandline.dev ({blocker})"
            ]
            assert client.find(INSTRUMENTS, "scale", namespace=THEIRS)
            assert client.find(MUTATING_WEBHOOKS, "strandline-mutate") is None
            assert client.find(NAMESPACES, "strandline-canary") is None

            client.delete(INSTRUMENTS, "scale", namespace=THEIRS)
            swept = _sweep(client, cluster, stack)
            again = _sweep(client, cluster, None)

            assert (swept.leftovers, swept.strangers) == (
                (),
                (f"configmaps {THEIRS}/ours-they-say",),
            )
            found = client.get(CONFIG_MAPS, "ours-they-say", namespace=THEIRS)
            assert found["metadata"]["uid"] == claimed["metadata"]["uid"]
            # With the record gone, whatever carries our label is ours for all that we know.
            assert [left.object for left in again.leftovers] == [
                f"configmaps {THEIRS}/ours-they-say"
            ]
            client.delete(CONFIG_MAPS, "ours-they-say", namespace=THEIRS)
            assert _sweep(client, cluster, None) == PlatformSwept(
                deleted=0, leftovers=(), strangers=()
            )
            assert changed(before, fingerprint(client, "")) == ()
        person.provider().teardown(person.home)
        assert not cluster.state_dir.exists()


def test_what_a_stranger_made_again_under_our_name_is_not_deleted_by_name(
    person: Person, binaries: dict[str, Path], tmp_path: Path, toolchain: Toolchain
) -> None:
    role = "strandline:grader"
    with a_cluster(binaries, tmp_path / "other", free_ports(4)) as theirs:
        person.owns(theirs)
        person.allows(theirs.server)
        cluster = person.provision()
        with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
            stack = _platform(toolchain, cluster)
            apply_recorded(stack, cluster.state_dir)
            client.delete(CLUSTER_ROLES, role)
            made = client.create(CLUSTER_ROLES, _labelled(role, rules=[]))

            swept = _sweep(client, cluster, stack)

            assert swept.leftovers == ()
            assert swept.strangers == (f"clusterroles.rbac.authorization.k8s.io {role}",)
            assert client.get(CLUSTER_ROLES, role)["metadata"]["uid"] == made["metadata"]["uid"]
            crds = client.list_objects(CUSTOM_RESOURCE_DEFINITIONS, selector=PLATFORM_LABEL)
            assert crds == []
            assert read_inventory(cluster.state_dir) is None


def test_a_platform_whose_record_was_never_written_is_known_by_its_state(
    person: Person, binaries: dict[str, Path], tmp_path: Path, toolchain: Toolchain
) -> None:
    role = "strandline:grader"
    with a_cluster(binaries, tmp_path / "other", free_ports(4)) as theirs:
        person.owns(theirs)
        person.allows(theirs.server)
        cluster = person.provision()
        with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
            stack = _platform(toolchain, cluster)
            stack.apply(stack.plan())  # and the harness was killed here
            client.delete(CLUSTER_ROLES, role)
            made = client.create(CLUSTER_ROLES, {"metadata": {"name": role}, "rules": []})

            swept = _sweep(client, cluster, stack)

            assert swept.leftovers == ()
            assert client.get(CLUSTER_ROLES, role)["metadata"]["uid"] == made["metadata"]["uid"]
            assert client.list_objects(CUSTOM_RESOURCE_DEFINITIONS, selector=PLATFORM_LABEL) == []
            assert client.list_objects(MUTATING_WEBHOOKS, selector=PLATFORM_LABEL) == []


def test_another_cluster_at_the_same_address_is_refused_and_nothing_is_touched(
    person: Person, binaries: dict[str, Path], tmp_path: Path, toolchain: Toolchain
) -> None:
    ports = free_ports(4)
    with a_cluster(binaries, tmp_path / "first", ports) as first:
        person.owns(first)
        person.allows(first.server)
        cluster = person.provision()
        stack = _platform(toolchain, cluster)
        apply_recorded(stack, cluster.state_dir)
        found = person.provider().find(person.home)
        kept = read_identity(cluster.state_dir)
    with a_cluster(binaries, tmp_path / "second", ports) as second:
        person.owns(second)
        with closing(KubeClient.from_kubeconfig(second.kubeconfig)) as client:
            now = client.identity()
            before = fingerprint(client, "")

            with pytest.raises(AnotherClusterError) as by_provider:
                person.provider().find(person.home)
            with pytest.raises(AnotherClusterError) as by_sweep:
                _sweep(client, cluster, stack)

            assert found == cluster
            message = (
                f"another cluster answers: namespace kube-system has UID {now}, expected {kept}; "
                "nothing was touched"
            )
            assert [str(by_provider.value), str(by_sweep.value)] == [message, message]
            assert by_sweep.value.exit_code == 6
            assert changed(before, fingerprint(client, "")) == ()
            assert read_inventory(cluster.state_dir)
            assert stale_state_dirs(person.home) == ()
    # The working copy is there still, for when the right one is back.
    assert (cluster.state_dir / "platform").is_dir()
