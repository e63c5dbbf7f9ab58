"""Strict stand-ins for a run of pytest and for where its items are judged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.errors import ClusterError
from harness.kube.client import KubeClient
from harness.model.spec import SafetySpec
from harness.pytest_plugin.items import SpecFile, SpecItem
from harness.specs.loader import LoadedSpec
from harness.specs.probe import Probe
from tests.unit.specs.fakes import FakeClient


class FakeConfig:
    """Options and settings of a run, and the folders that it was called in."""

    def __init__(
        self,
        working_dir: Path,
        *,
        root_dir: Path | None = None,
        options: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.invocation_params = SimpleNamespace(dir=working_dir)
        self.rootpath = root_dir or working_dir
        self._options = options or {}
        self._settings = settings or {}

    def getoption(self, name: str) -> str | None:
        """Return what was given."""
        assert name in {"strandline_cluster", "strandline_stack"}
        return self._options.get(name)

    def getini(self, name: str) -> str:
        """Return what the project's own file says."""
        defaults = {
            "strandline_effect_seconds": "15",
            "strandline_cluster": "",
            "strandline_stack": "",
        }
        return self._settings.get(name, defaults[name])


class FakeGround:
    """Loads nothing, and gives a probe on scripted answers, or none at all."""

    def __init__(
        self,
        client: FakeClient | None,
        *,
        capabilities: tuple[str, ...] = (),
        loaded: LoadedSpec | None = None,
    ) -> None:
        self._client = client
        self._capabilities = capabilities
        self._loaded = loaded

    def load(self, folder: Path) -> LoadedSpec:
        """Return the spec that was given."""
        assert self._loaded is not None, f"unexpected {folder}"
        return self._loaded

    def probe(self) -> Probe:
        """Return where cases are probed."""
        if self._client is None:
            msg = "etcd exited with 1"
            raise ClusterError(msg, hint="free the port")
        return Probe.of(cast("KubeClient", self._client), "shop", self._capabilities)


def loaded_of(*cases: Any, path: Path = Path("/p/a-spec/spec.yaml"), **body: Any) -> LoadedSpec:
    """Return a spec with these cases, each ten lines below the one before."""
    dumped = [case.model_dump(by_alias=True) for case in cases]
    spec = SafetySpec.model_validate(
        {
            "apiVersion": "strandline.dev/v1",
            "kind": "SafetySpec",
            "metadata": {"name": "a-spec"},
            "spec": {**body, "cases": dumped},
        }
    )
    lines = {case.name: 10 * number for number, case in enumerate(cases, start=1)}
    return LoadedSpec(spec=spec, path=path, policy_path=None, lines=lines)


def items_of(
    session: pytest.Session, ground: FakeGround, *, path: Path = Path("/p/a-spec/spec.yaml")
) -> list[SpecItem]:
    """Return what pytest collects of the ground's spec."""
    return list(SpecFile.of(session, path, ground).collect())
