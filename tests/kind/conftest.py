"""What every test on kind stands on: a container engine, and one cluster a session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.images.places import default_images_dir
from harness.cluster.kind.engine import Engine, find_engine
from harness.cluster.kind.provider import KindProvider
from harness.cluster.provider import Cluster
from harness.cluster.toolchain import Toolchain, default_cache_dir
from harness.kube.client import KubeClient

#: Kinds whose objects come and go, or are written again, while nobody does anything.
_RESTLESS = frozenset({"events", "leases", "endpoints", "endpointslices", "nodes", "pods"})

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    return Toolchain(
        root=ROOT, cache_dir=default_cache_dir(os.environ), environ=os.environ, progress=print
    )


@pytest.fixture(scope="session")
def engine() -> Engine:
    return find_engine(settings_dir=default_images_dir(os.environ))


@pytest.fixture(scope="session")
def provider() -> KindProvider:
    return KindProvider()


@pytest.fixture(scope="session")
def cluster(
    provider: KindProvider, toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("home")
    with provider.ephemeral(home, toolchain=toolchain, progress=print) as ready:
        yield ready
    assert not ready.state_dir.exists()


def listing(client: KubeClient) -> dict[str, str]:
    """Return object to UID of everything on a cluster that does not move by itself."""
    return {
        f"{kind.qualified} {item['metadata'].get('namespace', '')}/{item['metadata']['name']}": str(
            item["metadata"]["uid"]
        )
        for kind in client.discover()
        if kind.plural not in _RESTLESS
        for item in client.list_objects(kind)
    }
