"""A namespace for a test: recorded before it exists, swept after it, and named when it stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.bench import ledger
from harness.cluster.provider import Cluster
from harness.errors import KubeError, TeardownError
from harness.kube.resources import CONFIG_MAPS, Resource
from harness.kube.sweep import Leftover, Swept
from harness.pytest_plugin.live import Namespaces

KINDS = (CONFIG_MAPS,)


class FakeClient:
    """Makes namespaces, whose default ServiceAccount is there at once."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.made: list[str] = []
        self._refuses = refuses

    def create(self, resource: Resource, manifest: dict[str, Any]) -> dict[str, Any]:
        """Make it, or do not."""
        assert resource.plural == "namespaces"
        if self._refuses:
            msg = "POST namespaces: quota"
            raise KubeError(msg)
        self.made.append(manifest["metadata"]["name"])
        return manifest

    def find(self, resource: Resource, name: str, *, namespace: str) -> dict[str, Any] | None:
        """Return the ServiceAccount."""
        assert (resource.plural, name) == ("serviceaccounts", "default")
        assert namespace in self.made
        return {}

    def discover(self) -> tuple[Resource, ...]:
        """Return every kind."""
        return KINDS


class FakeSweep:
    """Takes a namespace down, or leaves something of it."""

    def __init__(self, *leftovers: Leftover) -> None:
        self.swept: list[str] = []
        self._leftovers = leftovers

    def __call__(self, _client: Any, name: str, /, *, kinds: Sequence[Resource]) -> Swept:
        """Take it down."""
        assert kinds == KINDS
        self.swept.append(name)
        return Swept(deleted=1, leftovers=self._leftovers)


def _namespaces(home: Path, client: FakeClient, sweep: FakeSweep) -> Namespaces:
    cluster = Cluster(
        provider="kind",
        name="strandline-7f3a",
        kubeconfig=home / "kubeconfig",
        server="https://127.0.0.1:1",
        ca_pem=b"",
        capabilities=frozenset(),
        versions={},
        audit_log_path=None,
        state_dir=home,
    )
    fake: Any = client
    return Namespaces(client=fake, cluster=cluster, home=home, sweep=sweep)


def _recorded(home: Path) -> list[tuple[str, str, str]]:
    return [(one.namespace, one.provider, one.cluster) for one in ledger.entries(home)]


def test_a_namespace_is_recorded_while_it_is_there_and_forgotten_once_it_is_gone(
    tmp_path: Path,
) -> None:
    client, sweep = FakeClient(), FakeSweep()

    with _namespaces(tmp_path, client, sweep).fresh() as name:
        during = _recorded(tmp_path)

    assert client.made == sweep.swept == [name]
    assert during == [(name, "kind", "strandline-7f3a")]
    assert _recorded(tmp_path) == []


def test_no_two_tests_get_the_same_namespace(tmp_path: Path) -> None:
    client = FakeClient()
    namespaces = _namespaces(tmp_path, client, FakeSweep())

    for _ in range(20):
        with namespaces.fresh():
            pass

    assert len(set(client.made)) == 20


def test_what_is_left_of_a_namespace_is_an_error_that_names_it_and_stays_recorded(
    tmp_path: Path,
) -> None:
    left = Leftover(object="configmaps test-1/kept", blocker="finalizer example.com/held")
    namespaces = _namespaces(tmp_path, FakeClient(), FakeSweep(left))

    with pytest.raises(TeardownError) as caught, namespaces.fresh():
        pass

    assert str(caught.value) == (
        "1 left behind: configmaps test-1/kept (finalizer example.com/held)"
    )
    assert len(_recorded(tmp_path)) == 1


def test_a_namespace_that_could_not_be_made_is_swept_all_the_same(tmp_path: Path) -> None:
    sweep = FakeSweep()

    with (
        pytest.raises(KubeError, match="quota"),
        _namespaces(tmp_path, FakeClient(refuses=True), sweep).fresh(),
    ):
        pass

    assert len(sweep.swept) == 1
    assert _recorded(tmp_path) == []
