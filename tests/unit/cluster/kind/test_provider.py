"""What the kind provider does where there is no cluster, or no engine to ask."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.cluster.home import create_state_dir
from harness.cluster.kind.engine import Engine
from harness.cluster.kind.provider import KindProvider
from harness.cluster.kind.state import node_name, provisioned_name
from harness.cluster.provider import CLUSTER_FILE, Cluster
from harness.errors import PrerequisiteError, TeardownError
from tests.unit.cluster.kind.fakes import FakeCommands, described, engine, teach_nodes


def _no_engine(*_: object, **__: object) -> Engine:
    msg = "docker: not on PATH"
    raise PrerequisiteError(msg, hint="install docker")


def _provider(tmp_path: Path, commands: FakeCommands | None = None) -> KindProvider:
    def search(*_: object, **__: object) -> Engine:
        return engine(commands) if commands else _no_engine()

    return KindProvider(
        environ={"XDG_CACHE_HOME": str(tmp_path / "cache")}, notes_dir=None, search=search
    )


def _cluster(state_dir: Path) -> Cluster:
    return Cluster(
        provider="kind",
        name=state_dir.name,
        kubeconfig=state_dir / "admin.kubeconfig",
        server="https://127.0.0.1:1",
        ca_pem=b"",
        capabilities=frozenset(),
        versions={},
        audit_log_path=None,
        state_dir=state_dir,
    )


def test_a_machine_without_an_engine_has_nothing_left_behind(tmp_path: Path) -> None:
    provider = _provider(tmp_path)

    provider.reap(tmp_path, older_than_s=0)
    provider.teardown(tmp_path)

    assert provider.abandoned(tmp_path, older_than_s=0) == ()
    assert provider.find(tmp_path) is None


def test_a_cluster_whose_engine_is_gone_is_named_and_not_forgotten(tmp_path: Path) -> None:
    name = provisioned_name(tmp_path)
    create_state_dir(tmp_path, name, owner_pid=os.getpid())

    with pytest.raises(TeardownError) as caught:
        _provider(tmp_path).reap(tmp_path, older_than_s=0)

    assert caught.value.leftovers == (f"kind cluster {name}",)
    assert caught.value.hint == "install docker"


def test_a_cluster_that_does_not_answer_is_not_found(tmp_path: Path) -> None:
    state_dir = create_state_dir(tmp_path, provisioned_name(tmp_path), owner_pid=os.getpid())
    _cluster(state_dir).save(state_dir / CLUSTER_FILE)

    assert _provider(tmp_path).find(tmp_path) is None


def test_the_node_is_the_container_that_kind_names_after_the_cluster(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach("podman", "exec", "strandline-x-control-plane", "cat", "/f", stdout="f")

    node = _provider(tmp_path, commands).node(_cluster(tmp_path / "strandline-x"))

    assert node is not None
    assert node.read_file(Path("/f")) == b"f"


def test_a_machine_with_an_engine_and_no_node_has_nothing_left_behind(tmp_path: Path) -> None:
    commands = FakeCommands()
    teach_nodes(commands)

    assert _provider(tmp_path, commands).abandoned(tmp_path, older_than_s=0) == ()


def test_a_cluster_that_runs_and_does_not_answer_is_not_thrown_away(tmp_path: Path) -> None:
    state_dir = create_state_dir(tmp_path, provisioned_name(tmp_path), owner_pid=os.getpid())
    (state_dir / CLUSTER_FILE).touch()
    commands = FakeCommands()
    node = described(node_name(state_dir.name), created="2026-11-30T05:00:00Z", state_dir=state_dir)
    teach_nodes(commands, node)

    _provider(tmp_path, commands)._end_dead(tmp_path, engine(commands))

    assert state_dir.is_dir()
