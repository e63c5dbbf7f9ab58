"""What every integration test stands on: real binaries, and one embedded cluster a session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.embedded.control_plane import BINARY_NAMES
from harness.cluster.embedded.ephemeral import EphemeralCluster
from harness.cluster.home import read_ledger
from harness.cluster.provider import Cluster
from harness.cluster.services.processes import lab_argv
from harness.cluster.toolchain import Toolchain, default_cache_dir

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    return Toolchain(
        root=ROOT, cache_dir=default_cache_dir(os.environ), environ=os.environ, progress=print
    )


@pytest.fixture(scope="session")
def binaries(toolchain: Toolchain) -> dict[str, Path]:
    return toolchain.ensure(BINARY_NAMES)


@pytest.fixture(scope="session")
def cluster(
    binaries: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    with EphemeralCluster(
        tmp_path_factory.mktemp("home"), binaries=binaries, webhook_argv=lab_argv("webhook")
    ) as ready:
        yield ready
        ledger = read_ledger(ready.state_dir)
    assert ledger is not None
    assert ledger.processes
    assert [name for name, one in ledger.processes.items() if one.alive] == []
    assert not ready.state_dir.exists()
