"""The fixtures' insides: a control plane for any Python project, and namespaces that are swept.

Needs neither Terraform nor the laboratory. A namespace is recorded before it exists, so that what a
killed run leaves on a cluster that stays is found by the next sweep. Called by `strandline_pytest`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self

import pytest

from harness.bench import ledger
from harness.bench.layout import find_layout
from harness.bench.living import living_cluster
from harness.bench.tools import find_toolchain
from harness.cluster.provider import Cluster
from harness.cluster.toolchain import Toolchain
from harness.core.naming import new_attempt_id
from harness.core.process import Finished, run, scrubbed_environment
from harness.core.waiting import wait_until
from harness.errors import TeardownError
from harness.kube.client import KubeClient
from harness.kube.identity_guard import ProvenClient, prove_identity
from harness.kube.resources import NAMESPACES, SERVICE_ACCOUNTS, Resource
from harness.kube.sweep import Swept, sweep_namespace
from harness.pytest_plugin.choice import Choice, choice_of
from harness.pytest_plugin.spec_session import selected_items, spec_session_of
from harness.pytest_plugin.telling import say_on_terminal

#: Seconds that one command of kubectl may take.
KUBECTL_TIMEOUT_S = 60.0

#: Seconds until a new namespace has its default ServiceAccount, which takes some 10 ms.
_ACCOUNT_TIMEOUT_S = 20.0

#: What a run of pytest is called in the records of the harness.
_RUN_ID = "pytest"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCluster:
    """A control plane that a test can use.

    Attributes:
        server: Address of the API server.
        kubeconfig: The administrator's, for `kubernetes.config.load_kube_config(str(...))`.
        versions: Component to version, for example `kubernetes` to `v1.37.2`.
        capabilities: What it can do, for example `audit`, `controller_manager`, `nodes`.
        env: What a process needs in its environment to reach it.
    """

    server: str
    kubeconfig: Path
    versions: Mapping[str, str]
    capabilities: frozenset[str]
    env: Mapping[str, str]
    _cluster: Cluster = field(repr=False)
    _home: Path = field(repr=False)
    _kubectl: Path = field(repr=False)

    def kubectl(
        self,
        *args: str,
        input: str | None = None,  # noqa: A002 - the word of `subprocess.run`
        timeout_s: float = KUBECTL_TIMEOUT_S,
    ) -> Finished:
        """Run kubectl as the administrator and return how it ended: `returncode`, `stdout`, ...

        Args:
            args: Its arguments.
            input: Text for its standard input, for example a manifest for `apply -f -`.
            timeout_s: Bound in seconds.
        """
        return run(
            [str(self._kubectl), *args],
            env=scrubbed_environment(self.env),
            timeout_s=timeout_s,
            stdin=None if input is None else input.encode(),
        )


@contextmanager
def live_cluster(session: pytest.Session) -> Iterator[LiveCluster]:
    """Give the cluster of a run's specs, else one of its own that ends with the block.

    Raises:
        HarnessError: There is none.
    """
    specs = spec_session_of(session.config)
    if specs is not None and selected_items(session):
        specs.begin(session)
        choice, cluster = choice_of(session.config), specs.standing().cluster
        yield _live(choice, cluster, _toolchain(choice, session.config))
        return
    choice = choice_of(session.config)
    toolchain = _toolchain(choice, session.config)
    with _plain_cluster(choice, toolchain, session.config) as cluster:
        yield _live(choice, cluster, toolchain)


@contextmanager
def _plain_cluster(
    choice: Choice, toolchain: Toolchain, config: pytest.Config
) -> Iterator[Cluster]:
    """Give what was named where it stands already, else a cluster that ends with the block."""
    say = say_on_terminal(config)
    provider, home = choice.provider(laboratory=False), choice.home
    if provider.keeps_cluster and provider.find(home) is None:
        try:
            yield provider.provision(home, toolchain=toolchain, progress=say)
        finally:
            provider.teardown(home)  # forgets it, and touches nothing on it
            ledger.remove_empty(home)
        return
    of_its_own = choice.cluster is None  # nobody named what stands here for something else
    with living_cluster(
        provider, home=home, toolchain=toolchain, say=say, of_its_own=of_its_own
    ) as cluster:
        yield cluster


def _toolchain(choice: Choice, config: pytest.Config) -> Toolchain:
    return find_toolchain(find_layout(None, choice.working_dir), say_on_terminal(config))


def _live(choice: Choice, cluster: Cluster, toolchain: Toolchain) -> LiveCluster:
    return LiveCluster(
        server=cluster.server,
        kubeconfig=cluster.kubeconfig,
        versions=cluster.versions,
        capabilities=cluster.capabilities,
        env={"KUBECONFIG": str(cluster.kubeconfig)},
        _cluster=cluster,
        _home=choice.home,
        _kubectl=toolchain.ensure(["kubectl"])["kubectl"],
    )


class Sweep(Protocol):
    """Deletes a namespace with all that it holds, and says what is left."""

    def __call__(self, client: ProvenClient, name: str, /, *, kinds: Sequence[Resource]) -> Swept:
        """Do it; idempotent."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespaces:
    """Makes namespaces on one cluster, and takes each down again.

    Attributes:
        client: Acts as the administrator, on a cluster whose identity was proved.
        cluster: The cluster.
        home: Folder with the records of what was begun.
        sweep: Takes a namespace down.
    """

    client: ProvenClient
    cluster: Cluster
    home: Path
    sweep: Sweep = sweep_namespace

    @classmethod
    @contextmanager
    def on(cls, live: LiveCluster) -> Iterator[Self]:
        """Give one for a cluster, whose identity is held against every later answer."""
        with closing(KubeClient.from_kubeconfig(live.kubeconfig)) as client:
            proven = prove_identity(client, client.identity())
            yield cls(client=proven, cluster=live._cluster, home=live._home)  # noqa: SLF001 - not a test's business

    @contextmanager
    def fresh(self) -> Iterator[str]:
        """Give the name of a namespace that is gone after the block.

        Raises:
            TeardownError: Something of it is left; each is named with what keeps it.
        """
        name = f"test-{new_attempt_id()}"
        entry = ledger.begin(
            self.home,
            attempt_id=name.removeprefix("test-"),
            run_id=_RUN_ID,
            namespace=name,
            provider=self.cluster.provider,
            cluster=self.cluster.name,
        )
        try:
            self.client.create(NAMESPACES, {"metadata": {"name": name}})
            wait_until(
                lambda: self.client.find(SERVICE_ACCOUNTS, "default", namespace=name),
                lambda found: found is not None,
                what=f"default ServiceAccount of {name}",
                timeout_s=_ACCOUNT_TIMEOUT_S,
            )
            yield name
        finally:
            swept = self.sweep(self.client, name, kinds=self.client.discover())
            if not swept.leftovers:
                entry.remove()
        if swept.leftovers:
            raise TeardownError(tuple(map(str, swept.leftovers)), hint="remove what keeps them")
