"""Everything that goes wrong while a control plane starts: a clear error, and nothing left."""

from __future__ import annotations

import json
import secrets
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from harness.cluster.embedded.ephemeral import EphemeralCluster
from harness.cluster.embedded.probe import client_context, https_get
from harness.cluster.home import reap
from harness.cluster.provider import Cluster
from harness.core.waiting import wait_until
from harness.errors import ClusterError

#: Moments of a start at which its owner is killed: each somewhere in its sixth of the seconds that
#: a start takes when nothing else runs.
_KILLS = 6
_START_S = 3.6

_OWNER = """
import sys
from pathlib import Path
from harness.cluster.embedded.ephemeral import EphemeralCluster
home, *paths = map(Path, sys.argv[1:])
print("starting", flush=True)
with EphemeralCluster(home, binaries={p.name: p for p in paths}, webhook_argv=None):
    sys.stdin.read()
"""


def _processes_of(home: Path) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it may end while we read
            found.append(path.read_bytes().replace(b"\0", b" ").decode())
    return [command for command in found if f"{home}/clusters" in command]


def _folders(home: Path) -> list[str]:
    return [path.name for path in (home / "clusters").iterdir()]


def _instead(tmp_path: Path, name: str, command: str) -> Path:
    script = tmp_path / name
    script.write_text(f"#!/bin/sh\n{command}\n")
    script.chmod(0o755)
    return script


def _refused(home: Path, binaries: dict[str, Path]) -> ClusterError:
    with (
        pytest.raises(ClusterError) as caught,
        EphemeralCluster(home, binaries=binaries, webhook_argv=None),
    ):
        pass
    return caught.value


def test_a_flag_that_the_api_server_does_not_know_is_named_and_its_etcd_is_ended(
    binaries: dict[str, Path], tmp_path: Path
) -> None:
    real = shlex.quote(str(binaries["kube-apiserver"]))
    broken = _instead(tmp_path, "kube-apiserver", f'exec {real} "$@" --no-such-flag')
    home = tmp_path / "home"

    error = _refused(home, {**binaries, "kube-apiserver": broken})

    assert str(error) == "kube-apiserver exited 1: Error: unknown flag: --no-such-flag"
    assert _processes_of(home) == []
    assert _folders(home) == []


def test_an_etcd_that_dies_later_is_named_and_the_api_server_is_ended(
    binaries: dict[str, Path], tmp_path: Path
) -> None:
    real = shlex.quote(str(binaries["etcd"]))
    broken = _instead(tmp_path, "etcd", f'exec timeout -s KILL 0.7 {real} "$@"')
    home = tmp_path / "home"

    error = _refused(home, {**binaries, "etcd": broken})

    assert str(error).startswith(("etcd exited 137: ", "etcd exited -9: "))
    assert _processes_of(home) == []
    assert _folders(home) == []


def test_a_full_disk_under_the_audit_log_is_named_long_before_a_start_times_out(
    binaries: dict[str, Path], tmp_path: Path
) -> None:
    # Every write to /dev/full finds no room, as on a disk that is full.
    real = shlex.quote(str(binaries["kube-apiserver"]))
    full = _instead(tmp_path, "kube-apiserver", f'exec {real} "$@" --audit-log-path=/dev/full')
    home = tmp_path / "home"

    error = _refused(home, {**binaries, "kube-apiserver": full})

    assert str(error).startswith("kube-apiserver: ")
    assert "no space left on device" in str(error)
    assert error.hint == "free some disk, or set STRANDLINE_HOME to another one"
    assert _processes_of(home) == []
    assert _folders(home) == []


def test_an_owner_killed_at_any_moment_of_a_start_leaves_nothing_that_is_not_reaped(
    binaries: dict[str, Path], tmp_path: Path
) -> None:
    anywhere = secrets.SystemRandom().random
    moments_s = [(number + anywhere()) / _KILLS * _START_S for number in range(_KILLS)]
    argv = [sys.executable, "-c", _OWNER, str(tmp_path), *map(str, binaries.values())]
    for moment_s in moments_s:
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
            assert owner.stdout is not None
            owner.stdout.readline()
            with suppress(subprocess.TimeoutExpired):
                owner.wait(moment_s)

            owner.send_signal(signal.SIGKILL)
            owner.wait()

        left = wait_until(
            lambda: _processes_of(tmp_path),
            lambda found: not found,
            what=f"end of the orphans of an owner killed after {moment_s:.2f} s",
            timeout_s=5,
        )
        assert left == []
        reap(tmp_path)
        assert _folders(tmp_path) == [], moment_s


def test_a_ready_cluster_has_what_the_controllers_make(cluster: Cluster) -> None:
    pki = cluster.state_dir / "pki"
    admin = client_context(ca=pki / "serving-ca.crt", certificate=pki / "admin.crt")
    port = int(cluster.server.rpartition(":")[2])

    account, _ = https_get(
        port, "/api/v1/namespaces/default/serviceaccounts/default", context=admin
    )
    _, role = https_get(port, "/apis/rbac.authorization.k8s.io/v1/clusterroles/edit", context=admin)

    assert account == 200
    assert len(json.loads(role)["rules"]) > 5
