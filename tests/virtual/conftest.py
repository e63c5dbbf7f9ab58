"""The laboratory in memory, with tasks made ready once for all tests that need them."""

from __future__ import annotations

import fcntl
import os
import pickle
from pathlib import Path

import pytest

from harness.bench.layout import Layout
from harness.cluster.toolchain import Toolchain, default_cache_dir
from harness.terraform.engine import Engine, load_engine
from tests.virtual.manifests import PlannedStacks
from tests.virtual.schema import ROOT
from tests.virtual.suite import VirtualSuite, load_virtual


@pytest.fixture(scope="session")
def engine() -> Engine:
    toolchain = Toolchain(
        root=ROOT, cache_dir=default_cache_dir(os.environ), environ=os.environ, progress=print
    )
    return load_engine(toolchain.ensure_terraform(), plugin_mirror=None)


@pytest.fixture(scope="session")
def stacks(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> PlannedStacks:
    return PlannedStacks(engine, ROOT / "tf", tmp_path_factory.mktemp("planned"))


@pytest.fixture(scope="session")
def small(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> VirtualSuite:
    root = tmp_path_factory.mktemp("root")
    (root / "tf").symlink_to(ROOT / "tf")
    (root / "policies").symlink_to(ROOT / "policies")
    (root / "tasks").symlink_to(Path(__file__).parent / "data")
    work_dir = tmp_path_factory.mktemp("planned")
    return load_virtual(Layout(root=root), "small", engine=engine, work_dir=work_dir)


@pytest.fixture(scope="session")
def recovery(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> VirtualSuite:
    """The suite lab-recovery, made ready by one of the workers of a run for all of them."""

    def load() -> VirtualSuite:
        work_dir = tmp_path_factory.mktemp("planned")
        return load_virtual(Layout(root=ROOT), "lab-recovery", engine=engine, work_dir=work_dir)

    if worker_id == "master":
        return load()
    kept = tmp_path_factory.getbasetemp().parent / "recovery.pickle"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(load()))
        found: VirtualSuite = pickle.loads(kept.read_bytes())  # noqa: S301 - written just above
        return found
