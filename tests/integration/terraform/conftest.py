"""A real engine from PATH, and stacks of built-in resources: no provider and no cluster needed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.toolchain import Toolchain
from harness.terraform.commands import Limits
from harness.terraform.engine import Engine, engine_environment, load_engine
from harness.terraform.stack import Stack

MakeStack = Callable[..., Stack]


@pytest.fixture(scope="session")
def engine() -> Engine:
    path = shutil.which("terraform") or shutil.which("tofu")
    assert path is not None, "these tests need terraform or tofu on PATH"
    return load_engine(Path(path), plugin_mirror=None)


@pytest.fixture(
    scope="session",
    params=[name for name in ("terraform", "tofu") if shutil.which(name) or name == "tofu"],
)
def any_engine(request: pytest.FixtureRequest, toolchain: Toolchain) -> Engine:
    """Each engine there is; OpenTofu is built where it is not installed."""
    found = shutil.which(request.param)
    path = Path(found) if found else toolchain.ensure(["tofu"])["tofu"]
    return load_engine(path, plugin_mirror=None)


@pytest.fixture
def environment(engine: Engine, tmp_path: Path) -> dict[str, str]:
    return engine_environment(engine, work_dir=tmp_path, extra={}, ambient=os.environ)


@pytest.fixture
def make_stack(engine: Engine, environment: Mapping[str, str], tmp_path: Path) -> MakeStack:
    """Write a stack's files below a root of their own and create a copy of it."""

    def make(
        files: Mapping[str, str], values: Mapping[str, Any] | None = None, **limits: float
    ) -> Stack:
        root = tmp_path / "root"
        for name, text in files.items():
            path = root / "tf" / "stacks" / "world" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Stack.create(
            engine,
            stack_dir=root / "tf" / "stacks" / "world",
            policies_dir=root / "policies",
            work_dir=tmp_path / "work",
            values=values or {},
            environment=environment,
            log_path=tmp_path / "terraform.log",
            limits=Limits(**limits),
        )

    return make
