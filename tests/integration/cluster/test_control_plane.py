"""The embedded control plane itself, with the real binaries."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from harness.cluster.embedded.ephemeral import EphemeralCluster
from harness.cluster.embedded.ports import free_ports
from harness.cluster.embedded.probe import client_context, https_get
from harness.cluster.home import create_state_dir, read_ledger, reap
from harness.cluster.provider import Cluster
from harness.core.identity import ProcessIdentity, identify
from harness.core.waiting import wait_until
from harness.errors import ClusterError, PrerequisiteError, UnreachableError

_OWNER = """
import sys
from pathlib import Path
from harness.cluster.embedded.ephemeral import EphemeralCluster
home, *paths = map(Path, sys.argv[1:])
with EphemeralCluster(home, binaries={p.name: p for p in paths}, webhook_argv=None) as cluster:
    print(cluster.state_dir, flush=True)
    sys.stdin.read()
"""


def _port(cluster: Cluster) -> int:
    return int(cluster.server.rpartition(":")[2])


def _admin(cluster: Cluster) -> ssl.SSLContext:
    pki = cluster.state_dir / "pki"
    return client_context(ca=pki / "serving-ca.crt", certificate=pki / "admin.crt")


def _processes(state_dir: Path) -> dict[str, ProcessIdentity]:
    ledger = read_ledger(state_dir)
    assert ledger is not None
    return dict(ledger.processes)


def _commands_with(text: str) -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it may end while we read
            found.append(path.read_bytes())
    return [command for command in found if text.encode() in command]


@contextmanager
def _owner(home: Path, binaries: dict[str, Path]) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    argv = [sys.executable, "-c", _OWNER, str(home), *map(str, binaries.values())]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        try:
            yield owner, Path(owner.stdout.readline().decode().strip())
        finally:
            owner.kill()


def test_a_ready_cluster_says_what_it_is(cluster: Cluster) -> None:
    status, body = https_get(_port(cluster), "/version", context=_admin(cluster))

    assert status == 200
    assert cluster.versions["kubernetes"] == json.loads(body)["gitVersion"]
    assert cluster.versions["etcd"].startswith("3.")
    assert {"audit", "controller_manager", "reaches_host"} <= cluster.capabilities


def test_what_holds_a_key_is_readable_by_its_owner_alone(cluster: Cluster) -> None:
    pki = cluster.state_dir / "pki"
    secrets = list(cluster.state_dir.glob("*kubeconfig"))

    modes = {path: path.stat().st_mode & 0o777 for path in [*secrets, *pki.iterdir()]}

    assert len(secrets) == 3
    assert set(modes.values()) == {0o600}
    assert pki.stat().st_mode & 0o777 == 0o700
    assert cluster.state_dir.stat().st_mode & 0o777 == 0o700


def test_the_audit_line_is_there_when_the_client_has_its_answer(cluster: Cluster) -> None:
    assert cluster.audit_log_path is not None
    path = f"/api/v1/namespaces/default/configmaps?fieldManager={os.urandom(8).hex()}"

    status, _ = https_get(_port(cluster), path, context=_admin(cluster))
    lines = cluster.audit_log_path.read_text().splitlines()

    events = [json.loads(line) for line in lines if path in line]
    assert status == 200
    assert [(event["stage"], event["user"]["username"]) for event in events] == [
        ("ResponseComplete", "strandline:admin")
    ]


def test_nobody_anonymous_is_let_in(cluster: Cluster) -> None:
    anonymous = client_context(ca=cluster.state_dir / "pki" / "serving-ca.crt")

    answers = [
        https_get(_port(cluster), path, context=anonymous)[0] for path in ("/api/v1", "/readyz")
    ]

    assert answers == [401, 401]


def test_etcd_lets_in_its_one_client_and_nobody_else(cluster: Cluster) -> None:
    pki = cluster.state_dir / "pki"
    argv = Path(f"/proc/{_processes(cluster.state_dir)['etcd-command'].pid}/cmdline").read_bytes()
    url = next(arg for arg in argv.split(b"\0") if arg.startswith(b"--listen-client-urls="))
    port = int(url.rpartition(b":")[2])
    client = client_context(ca=pki / "etcd-ca.crt", certificate=pki / "etcd-client.crt")
    strangers = (
        client_context(ca=pki / "etcd-ca.crt"),
        client_context(ca=pki / "etcd-ca.crt", certificate=pki / "admin.crt"),
    )

    status, _ = https_get(port, "/version", context=client)

    assert status == 200
    for stranger in strangers:
        with pytest.raises(UnreachableError):
            https_get(port, "/version", context=stranger)


def test_two_clusters_live_side_by_side(
    cluster: Cluster, binaries: dict[str, Path], tmp_path: Path
) -> None:
    with EphemeralCluster(tmp_path, binaries=binaries, webhook_argv=None) as other:
        answers = [
            https_get(_port(one), "/readyz", context=_admin(one))[0] for one in (cluster, other)
        ]
        crossed, _ = https_get(
            _port(other),
            "/readyz",
            context=client_context(
                ca=other.state_dir / "pki" / "serving-ca.crt",
                certificate=cluster.state_dir / "pki" / "admin.crt",
            ),
        )

    assert answers == [200, 200]
    assert crossed == 401
    assert not other.state_dir.exists()


def test_a_port_that_was_taken_is_replaced(binaries: dict[str, Path], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        taken = holder.getsockname()[1]
        draws: list[tuple[int, ...]] = []

        def pick(count: int) -> tuple[int, ...]:
            drawn = free_ports(count)
            draws.append((taken, *drawn[1:]) if not draws else drawn)
            return draws[-1]

        started = EphemeralCluster(tmp_path, binaries=binaries, webhook_argv=None, pick_ports=pick)
        with started as cluster:
            status, _ = https_get(_port(cluster), "/readyz", context=_admin(cluster))

    assert status == 200
    assert len(draws) == 2


def test_a_process_that_dies_at_its_start_is_named_with_the_end_of_its_log(
    binaries: dict[str, Path], tmp_path: Path
) -> None:
    broken = tmp_path / "kube-apiserver"
    broken.write_text("#!/bin/sh\necho 'no such flag: --tea' >&2\nexit 3\n")
    broken.chmod(0o755)
    started = EphemeralCluster(
        tmp_path / "home", binaries={**binaries, "kube-apiserver": broken}, webhook_argv=None
    )

    with pytest.raises(ClusterError) as caught, started:
        pass

    assert str(caught.value) == "kube-apiserver exited 3: no such flag: --tea"
    assert list((tmp_path / "home" / "clusters").iterdir()) == []


def test_a_program_that_cannot_be_run_is_named_and_what_was_started_is_ended(
    binaries: dict[str, Path], tmp_path: Path
) -> None:
    missing = tmp_path / "kube-apiserver"
    started = EphemeralCluster(
        tmp_path / "home", binaries={**binaries, "kube-apiserver": missing}, webhook_argv=None
    )

    with pytest.raises(PrerequisiteError) as caught, started:
        pass

    assert str(caught.value) == f"cannot run {str(missing)!r}: No such file or directory"
    assert _commands_with(str(tmp_path / "home")) == []
    assert list((tmp_path / "home" / "clusters").iterdir()) == []


def test_a_killed_owner_leaves_no_process_and_its_folder_is_reaped(
    binaries: dict[str, Path], tmp_path: Path
) -> None:
    with _owner(tmp_path, binaries) as (owner, state_dir):
        processes = _processes(state_dir)
        alive_before = [name for name, one in processes.items() if one.alive]

        owner.send_signal(signal.SIGKILL)
        owner.wait()
        wait_until(
            lambda: [name for name, one in processes.items() if one.alive],
            lambda left: not left,
            what="end of the orphans",
            timeout_s=5,
        )

    assert len(alive_before) == 6
    assert reap(tmp_path) == (state_dir.name,)
    assert not state_dir.exists()


def test_the_folder_of_a_live_owner_is_left_alone(
    binaries: dict[str, Path], tmp_path: Path
) -> None:
    with _owner(tmp_path, binaries) as (_, state_dir):
        reaped = reap(tmp_path)

        assert reaped == ()
        assert all(one.alive for one in _processes(state_dir).values())


def test_a_process_that_outlived_its_owner_is_ended_by_the_reaper(tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "1000"]) as orphan:
        with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as owner:
            state_dir = create_state_dir(tmp_path, "ephemeral-x", owner_pid=owner.pid)
            ledger = json.loads((state_dir / "ledger.json").read_text())
        identity = identify(orphan.pid)
        assert identity is not None
        entry = {"pid": identity.pid, "started_ticks": identity.started_ticks}
        ledger["processes"] = {"etcd": entry}
        (state_dir / "ledger.json").write_text(json.dumps(ledger))

        reaped = reap(tmp_path)

        assert reaped == ("ephemeral-x",)
        assert not identity.alive
