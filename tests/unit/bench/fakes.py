"""A suite on disk, strict stand-ins for Terraform's answers and for a provider of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

from harness.bench.layout import Layout
from harness.bench.loader import LoadedSuite, load_suite
from harness.bench.tools import Tools
from harness.cluster.provider import Cluster, Node, Progress
from harness.cluster.toolchain import Toolchain
from harness.errors import PrerequisiteError, TeardownError, VariableError
from harness.terraform.variables import ResolvedVariables, Variable

SUITE = """\
name: small
version: "1.0"
description: two tasks
categories: [operate, recover]
tasks:
  - mix
  - settle
briefing: |
  Your namespace is {{ namespace }}.
"""

MIX = """\
id: mix
category: operate
stack: color_lab
variables: { sample_id: { draw: name }, mass_g: 5 }
prompt: |
  Make {{ mass_g }} g of {{ sample_id }}.
checks:
  - { kind: runs_completed, count: 1, description: "{{ sample_id }} was made" }
"""

SETTLE = """\
id: settle
category: recover
stack: color_lab
setup:
  capability: sim.mix_color
  inputs: { total_mass_g: "{{ mass_g }}" }
  cancel_after_seconds: 0.3
prompt: Settle it.
checks:
  - { kind: no_run_awaiting_intervention, description: nothing waits }
"""

CONTROLS = """\
reference:
  mix: { passed: true, score: 1.0 }
  settle: { passed: true, score: 1.0 }
"""

#: Variables of the one stack: name to type and default; None where one must be given.
_DECLARED: dict[str, tuple[type, Any]] = {
    "attempt_id": (str, None),
    "mass_g": (int, 10),
    "namespace": (str, None),
    "run_id": (str, None),
    "sample_id": (str, "a"),
    "token": (str, "secret"),
}


class FakeTerraform:
    """Knows one stack, `color_lab`; refuses what Terraform would, in the words of our runner."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, stack_dir: Path, overrides: Mapping[str, Any]) -> ResolvedVariables:
        """Return the values of the stack's variables with overrides merged."""
        self.asked.append((stack_dir.name, dict(overrides)))
        place = stack_dir / "variables.tf"
        if stack_dir.name != "color_lab":
            msg = f"{stack_dir}: no such stack"
            raise VariableError(msg, hint="stacks here: color_lab")
        for name, value in overrides.items():
            if name not in _DECLARED:
                msg = f"{place}: no variable named {name!r}"
                raise VariableError(msg, hint="did you mean 'mass_g'?")
            if not isinstance(value, _DECLARED[name][0]):
                msg = f"{place}:1: variable {name!r}: a number is required"
                raise VariableError(msg)
        values = {name: default for name, (_, default) in _DECLARED.items()} | dict(overrides)
        assert None not in values.values()
        return ResolvedVariables(
            stack="color_lab",
            declared={name: _variable(name, place) for name in _DECLARED},
            values=values,
            sensitive=frozenset({"token"}),
        )


def _variable(name: str, place: Path) -> Variable:
    default = _DECLARED[name][1]
    return Variable(
        name=name,
        required=default is None,
        sensitive=name == "token",
        default=default,
        description="",
        path=place,
        line=1,
    )


class SuiteFolder:
    """The suite above in a folder, to be changed and loaded."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.directory = root / "tasks" / "small"
        self.terraform = FakeTerraform()
        files = {"suite": SUITE, "mix/task": MIX, "settle/task": SETTLE, "controls": CONTROLS}
        for name, text in files.items():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        control = self.directory / "controls" / "reference"
        control.parent.mkdir()
        control.write_text("#!/bin/sh\n")
        control.chmod(0o755)

    def path(self, name: str) -> Path:
        """Return a file of the suite, by its name without the ending."""
        return self.directory / f"{name}.yaml"

    def change(self, name: str, old: str, new: str) -> None:
        """Replace a text that must be there."""
        text = self.path(name).read_text()
        assert old in text
        self.path(name).write_text(text.replace(old, new, 1))

    def load(self) -> LoadedSuite:
        """Load it with the stand-in."""
        return load_suite(Layout(root=self.root), "small", resolve=self.terraform)


def tools_of(home: Path) -> Tools:
    """Return tools with a home; neither toolchain nor engine may be asked for anything."""
    return Tools(
        layout=Layout(root=home),
        home=home,
        toolchain=cast("Toolchain", object()),
        say=lambda _: None,
    )


def cluster_of(home: Path, name: str) -> Cluster:
    """Return a cluster that nobody may connect to."""
    return Cluster(
        provider="existing",
        name=name,
        kubeconfig=home / "no-kubeconfig",
        server="https://api.test",
        ca_pem=b"",
        capabilities=frozenset(),
        versions={},
        audit_log_path=None,
        state_dir=home / "clusters" / name,
    )


class FakeProvider:
    """A provider that starts nothing, and counts what it is told to end."""

    def __init__(
        self,
        name: str,
        *,
        keeps: bool = False,
        cluster: Cluster | None = None,
        left: Sequence[str] = (),
        error: TeardownError | None = None,
        unasked: PrerequisiteError | None = None,
    ) -> None:
        self.name, self.keeps_cluster = name, keeps
        self.reaped, self.ended = 0, 0
        self._cluster, self._left, self._error = cluster, tuple(left), error
        self._unasked = unasked

    def ephemeral(
        self, home: Path, *, toolchain: Toolchain, progress: Progress
    ) -> AbstractContextManager[Cluster]:
        """Refuse."""
        raise AssertionError(home, toolchain, progress)

    def provision(self, home: Path, *, toolchain: Toolchain, progress: Progress) -> Cluster:
        """Refuse."""
        raise AssertionError(home, toolchain, progress)

    def find(self, home: Path) -> Cluster | None:
        """Return the cluster that it was given, or fail."""
        del home
        if self._unasked:
            raise self._unasked
        return self._cluster

    def teardown(self, home: Path) -> None:
        """Count."""
        del home
        self.ended += 1

    def node(self, cluster: Cluster) -> Node | None:
        """Refuse."""
        raise AssertionError(cluster)

    def abandoned(self, home: Path, *, older_than_s: float) -> tuple[str, ...]:
        """Return what it was given, or fail."""
        del home, older_than_s
        if self._error:
            raise self._error
        return self._left

    def reap(self, home: Path, *, older_than_s: float) -> None:
        """Count, or fail."""
        del home, older_than_s
        if self._error:
            raise self._error
        self.reaped += 1
