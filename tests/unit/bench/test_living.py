"""A cluster for as long as a block needs one, and what is remembered of it after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from harness.bench import ledger
from harness.bench.living import living_cluster
from harness.cluster.provider import Cluster, ClusterProvider, Progress
from harness.cluster.toolchain import Toolchain
from harness.errors import TeardownError


def _cluster(home: Path, name: str) -> Cluster:
    return Cluster(
        provider="kind",
        name=name,
        kubeconfig=home / "kubeconfig",
        server="https://127.0.0.1:1",
        ca_pem=b"",
        capabilities=frozenset(),
        versions={},
        audit_log_path=None,
        state_dir=home / "clusters" / name,
    )


@dataclass(slots=True)
class FakeProvider:
    """Has one cluster that stands, or none, and makes one that ends."""

    standing: Cluster | None = None
    ended: list[str] = field(default_factory=list)

    def find(self, home: Path) -> Cluster | None:
        """Return the one that stands."""
        del home
        return self.standing

    def ephemeral(
        self, home: Path, *, toolchain: Toolchain, progress: Progress
    ) -> AbstractContextManager[Cluster]:
        """Return one that ends with the block."""
        del toolchain, progress

        @contextmanager
        def made() -> Iterator[Cluster]:
            cluster = _cluster(home, "ephemeral-1")
            yield cluster
            self.ended.append(cluster.name)

        return made()


def _live(
    provider: FakeProvider,
    home: Path,
    *,
    of_its_own: bool = False,
    before_end: Callable[[Cluster], None] = lambda _: None,
) -> AbstractContextManager[Cluster]:
    nothing: Any = None
    return living_cluster(
        cast("ClusterProvider", provider),
        home=home,
        toolchain=nothing,
        say=lambda _: None,
        of_its_own=of_its_own,
        before_end=before_end,
    )


def _begin(home: Path, cluster: str, attempt_id: str) -> None:
    ledger.begin(
        home,
        attempt_id=attempt_id,
        run_id="pytest",
        namespace=f"test-{attempt_id}",
        provider="kind",
        cluster=cluster,
    )


def test_the_cluster_that_stands_is_used_and_stays(tmp_path: Path) -> None:
    provider = FakeProvider(standing=_cluster(tmp_path, "mine"))

    with _live(provider, tmp_path) as found:
        name = found.name

    assert (name, provider.ended) == ("mine", [])


@pytest.mark.parametrize("of_its_own", [True, False])
def test_a_cluster_of_its_own_ends_with_the_block(tmp_path: Path, *, of_its_own: bool) -> None:
    standing = _cluster(tmp_path, "mine") if of_its_own else None
    provider = FakeProvider(standing=standing)

    with _live(provider, tmp_path, of_its_own=of_its_own) as found:
        name = found.name

    assert (name, provider.ended) == ("ephemeral-1", ["ephemeral-1"])


def test_a_cluster_ends_also_when_what_comes_before_its_end_fails(tmp_path: Path) -> None:
    provider = FakeProvider()
    seen = []

    def fail(cluster: Cluster) -> None:
        seen.append((cluster.name, tuple(provider.ended)))
        raise TeardownError(("a bucket",))

    with pytest.raises(TeardownError), _live(provider, tmp_path, before_end=fail):
        pass

    assert seen == [("ephemeral-1", ())]
    assert provider.ended == ["ephemeral-1"]


def test_what_was_on_a_cluster_that_ended_is_forgotten_and_nothing_else(tmp_path: Path) -> None:
    _begin(tmp_path, "another", "00000001")

    with _live(FakeProvider(), tmp_path):
        _begin(tmp_path, "ephemeral-1", "00000002")

    assert [entry.attempt_id for entry in ledger.entries(tmp_path)] == ["00000001"]


def test_a_home_that_holds_nothing_any_more_is_removed(tmp_path: Path) -> None:
    home = tmp_path / "home"

    with _live(FakeProvider(), home):
        _begin(home, "ephemeral-1", "00000002")

    assert not home.exists()
