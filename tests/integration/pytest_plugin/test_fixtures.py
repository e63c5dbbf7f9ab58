"""A live control plane for a project that knows nothing of us but two fixtures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.cluster.home import clusters_dir, read_ledger, reap
from harness.cluster.toolchain import Toolchain
from harness.core.identity import ProcessIdentity
from harness.core.process import Child
from harness.core.waiting import wait_until
from tests.integration.pytest_plugin.runs import RUN_TIMEOUT_S, argv_of, environment

pytestmark = pytest.mark.timeout(RUN_TIMEOUT_S)

TESTS = """\
import os
import subprocess

import kubernetes

seen = []

def test_a_namespace_is_fresh(strandline_cluster, strandline_namespace):
    seen.append((strandline_cluster.server, strandline_namespace))
    config_map = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}'
    arguments = ("apply", "-n", strandline_namespace, "-f", "-")
    applied = strandline_cluster.kubectl(*arguments, input=config_map)
    assert applied.stdout == "configmap/a created\\n", applied.stderr

def test_it_is_gone_and_the_cluster_is_not(strandline_cluster, strandline_namespace):
    (server, before), = seen
    env = {**os.environ, **strandline_cluster.env}
    kubectl = ["kubectl", "get", "namespaces", "-o", "name"]
    found = subprocess.check_output(kubectl, env=env, text=True)
    assert f"namespace/{before}" not in found.split()
    assert strandline_namespace != before
    assert strandline_cluster.server == server

def test_the_client_of_kubernetes_works(strandline_cluster, strandline_namespace):
    kubernetes.config.load_kube_config(str(strandline_cluster.kubeconfig))
    client = kubernetes.client.CoreV1Api()
    client.create_namespaced_config_map(strandline_namespace, {"metadata": {"name": "a"}})
    found = client.list_namespaced_config_map(strandline_namespace).items
    assert sorted(item.metadata.name for item in found) == ["a", "kube-root-ca.crt"]
    assert client.list_namespaced_service_account(strandline_namespace).items

def test_it_is_a_whole_control_plane(strandline_cluster):
    assert strandline_cluster.versions["kubernetes"].startswith("v1.")
    assert "controller_manager" in strandline_cluster.capabilities
"""

WAITS = """\
import signal
from pathlib import Path

def test_waits(strandline_cluster, strandline_namespace):
    Path("waiting").touch()
    signal.pause()
"""

#: Longest time until the processes of a run that was killed are gone, in seconds.
_GONE_S = 20.0


@contextmanager
def _until_it_waits(project: Path, env: Mapping[str, str]) -> Iterator[Child]:
    """Give a run in the middle of its last test."""
    (project / "test_b_waits.py").write_text(WAITS)
    output = project / "output"
    with Child(
        argv_of(),
        env=env,
        cwd=project,
        stdout_path=output,
        stderr_path=output,
        keep_survivors=True,
    ) as child:
        wait_until(
            lambda: (project / "waiting").exists() or not child.running,
            bool,
            what=f"last test of {project}",
            timeout_s=RUN_TIMEOUT_S,
        )
        yield child


def _processes(home: Path) -> Mapping[str, ProcessIdentity]:
    (state_dir,) = clusters_dir(home).iterdir()
    ledger = read_ledger(state_dir)
    assert ledger is not None
    return ledger.processes


def test_a_project_of_its_own_has_a_cluster_until_it_is_interrupted_and_nothing_after(
    tmp_path: Path, toolchain: Toolchain
) -> None:
    kubectl = toolchain.ensure(["kubectl"])["kubectl"]
    home = tmp_path / "home"
    (tmp_path / "test_a_shop.py").write_text(TESTS)

    with _until_it_waits(tmp_path, environment(home, first_on_path=kubectl.parent)) as child:
        processes = _processes(home)
        child.interrupt()
        assert child.wait(60)
        finished = child.finished(timed_out=False)

    said = (tmp_path / "output").read_text()
    assert finished.returncode == pytest.ExitCode.INTERRUPTED, said
    assert "= 4 passed in" in said
    assert [name for name, one in processes.items() if one.alive] == []
    assert not home.exists()


def test_a_killed_run_leaves_no_process_and_the_next_one_takes_its_files(tmp_path: Path) -> None:
    home = tmp_path / "home"

    with _until_it_waits(tmp_path, environment(home)) as child:
        processes = _processes(home)
        child.crash()
        assert child.wait(60)

    wait_until(
        lambda: [name for name, one in processes.items() if one.alive],
        lambda alive: not alive,
        what="end of the control plane",
        timeout_s=_GONE_S,
    )
    reap(home)
    assert list(clusters_dir(home).iterdir()) == []
