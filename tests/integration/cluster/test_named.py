"""Control planes by name, as a person starts and stops them, with nodes that run pods."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.embedded.named import describe
from harness.cluster.embedded.probe import client_context, https_get, https_post
from harness.cluster.home import reap, stale_state_dirs
from harness.cluster.toolchain import Toolchain
from harness.core.identity import identify
from harness.core.process import Finished, run, scrubbed_environment
from harness.core.waiting import wait_until

_COMMAND = "from harness.cli.main import main; main()"

_PODS = 20


class _Person:
    """Somebody at a terminal, in a folder of their own, with a kubeconfig that is locked."""

    def __init__(self, folder: Path, bin_dirs: str) -> None:
        self.home = folder / ".strandline"
        self._folder = folder
        # Their own kubeconfig, and a lock on it that a killed kubectl left: neither is touched.
        self.kube = folder / "kube" / "config"
        self.kube.parent.mkdir()
        self.kube.write_text("theirs")
        self.kube.with_name("config.lock").touch()
        self._env = scrubbed_environment(
            {"KUBECONFIG": str(self.kube), "PATH": bin_dirs},
            keep=("HOME", "XDG_CACHE_HOME", "PYTHONPATH", "LANG"),
            ambient=os.environ,
        )
        self.argv = [sys.executable, "-c", _COMMAND, "cluster"]

    def types(self, *words: str) -> Finished:
        return run(
            [*self.argv, *words],
            env=self._env,
            cwd=self._folder,
            timeout_s=120,
            keep_survivors=True,
        )

    def begins(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*self.argv, *words], env=self._env, cwd=self._folder, stderr=subprocess.DEVNULL
        )


@pytest.fixture
def person(toolchain: Toolchain, tmp_path: Path) -> Iterator[_Person]:
    toolchain.ensure(["kube-scheduler", "kwok"])
    person = _Person(tmp_path, os.environ["PATH"])
    yield person
    person.types("stop", "--all")


def _deployment() -> dict[str, Any]:
    labels = {"app": "web"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": _PODS,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]},
            },
        },
    }


def test_a_control_plane_with_nodes_runs_pods_until_it_is_stopped(person: _Person) -> None:
    started = person.types("start", "--nodes", "2")
    again = person.types("start")
    other = person.types("start", "--nodes", "3")
    status = person.types("status", "--name", "default", "--json")
    there = describe(person.home, "default")
    assert there is not None
    pki = there.path / "pki"
    admin = client_context(ca=pki / "serving-ca.crt", certificate=pki / "admin.crt")
    port = int(there.server.rpartition(":")[2])
    deployments = "/apis/apps/v1/namespaces/default/deployments"

    created, _ = https_post(port, deployments, json.dumps(_deployment()).encode(), context=admin)
    ready = wait_until(
        lambda: json.loads(https_get(port, f"{deployments}/web", context=admin)[1])["status"],
        lambda seen: seen.get("readyReplicas") == _PODS,
        what="the rollout",
        timeout_s=30,
    )
    _, pods = https_get(port, "/api/v1/namespaces/default/pods", context=admin)
    stale = stale_state_dirs(person.home)
    reaped = reap(person.home)
    path = person.types("kubeconfig")
    raw = person.types("kubeconfig", "--raw")
    stopped = person.types("stop")

    assert started.stdout == f"export KUBECONFIG={there.kubeconfig}\n"
    assert again.stdout == started.stdout
    assert (other.returncode, other.stderr.splitlines()[0]) == (
        6,
        "error: the control plane 'default' runs with 2 nodes, 3 asked for",
    )
    assert created == 201
    assert ready["updatedReplicas"] == _PODS
    nodes = {pod["spec"]["nodeName"] for pod in json.loads(pods)["items"]}
    assert nodes == {"node-0", "node-1"}
    (row,) = json.loads(status.stdout)
    assert (row["name"], row["state"], row["nodes"]) == ("default", "running", 2)
    assert {"supervisor", "kwok-command", "kube-scheduler-command"} <= row["pids"].keys()
    assert row["memory_bytes"] > 100 * 1024**2
    assert (stale, reaped) == ((), ())
    assert path.stdout == f"{there.kubeconfig}\n"
    assert "client-key-data" in json.loads(raw.stdout)["users"][0]["user"]
    assert stopped.stdout == "ended default\n"
    assert not there.path.exists()
    assert [pid for pid in there.pids.values() if identify(pid)] == []
    assert person.kube.read_text() == "theirs"
    assert person.kube.with_name("config.lock").exists()


def test_a_control_plane_that_does_not_run_is_an_error_by_name_and_nothing_otherwise(
    person: _Person,
) -> None:
    stopped = person.types("stop")
    named = person.types("status", "--name", "one")
    every = person.types("status", "--json")

    assert (stopped.returncode, stopped.stdout) == (0, "")
    assert (named.returncode, named.stdout) == (6, "")
    assert (every.returncode, json.loads(every.stdout)) == (0, [])
    assert not person.home.exists()


def test_a_start_whose_command_was_killed_is_done_anew_by_the_next(person: _Person) -> None:
    with person.begins("start", "--name", "one") as command:
        coming = wait_until(
            lambda: describe(person.home, "one"),
            lambda seen: seen is not None and "kube-apiserver" in seen.pids,
            what="the first processes",
            timeout_s=20,
        )
        command.send_signal(signal.SIGKILL)
        command.wait()
    assert coming is not None

    started = person.types("start", "--name", "one")
    there = describe(person.home, "one")

    assert started.returncode == 0, started.stderr
    assert there is not None
    assert there.state == "running"
    assert not coming.pids.items() & there.pids.items()
    assert [pid for pid in coming.pids.values() if identify(pid)] == []
