"""Which engine is used, with which settings, and what is said when none works."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.cluster.kind.engine import Engine, find_engine
from harness.cluster.kind.fitness import FREE_BYTES, EngineAnswer, Reason, reasons_against
from harness.cluster.kind.machine import Machine, look
from harness.cluster.kind.podman_settings import podman_settings
from harness.errors import ClusterError, PrerequisiteError
from tests.unit.cluster.kind.fakes import FakeCommands, engine, machine

_DOCKER = json.dumps({"ServerVersion": "28.2.2", "CgroupVersion": "2", "SecurityOptions": []})
_NO_DOCKER = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?"


def _podman(**changes: object) -> str:
    host = {
        "cgroupVersion": "v2",
        "networkBackend": "netavark",
        "ociRuntime": {"name": "crun"},
        "security": {"rootless": False},
        **changes,
    }
    return json.dumps({"host": host, "store": {"graphRoot": "/nonexistent"}})


def _find(
    commands: FakeCommands,
    tmp_path: Path,
    *,
    here: Machine | None = None,
    installed: tuple[str, ...] = ("docker", "podman"),
    environ: Mapping[str, str] | None = None,
    for_new_node: bool = True,
) -> Engine:
    return find_engine(
        environ or {},
        settings_dir=tmp_path,
        for_new_node=for_new_node,
        machine=lambda: here or machine(),
        run=commands,
        which=lambda name: f"/usr/bin/{name}" if name in installed else None,
    )


def test_docker_is_taken_before_podman_as_kind_does(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach("docker", "info", stdout=_DOCKER)

    found = _find(commands, tmp_path)

    assert found.name == "docker"
    assert found.environment["KIND_EXPERIMENTAL_PROVIDER"] == "docker"


def test_podman_is_taken_where_no_docker_daemon_answers(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach("docker", "info", stdout=json.dumps({"ServerVersion": ""}), stderr=_NO_DOCKER)
    commands.teach("podman", "info", stdout=_podman())

    found = _find(commands, tmp_path)

    assert found.name == "podman"
    assert list(tmp_path.iterdir()) == []


def test_the_engine_that_the_user_names_for_kind_is_the_only_one_asked(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach("podman", "info", stdout=_podman())

    found = _find(commands, tmp_path, environ={"KIND_EXPERIMENTAL_PROVIDER": "podman"})

    assert found.name == "podman"
    assert [words[0] for words in commands.seen] == ["podman"]


def test_an_engine_sees_no_variable_that_is_not_meant_for_it(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach("docker", "info", stdout=_DOCKER)
    environ = {"API_KEY": "secret", "DOCKER_HOST": "unix:///run/d.sock"}

    found = _find(commands, tmp_path, environ=environ)

    assert found.environment == {
        "DOCKER_HOST": "unix:///run/d.sock",
        "KIND_EXPERIMENTAL_PROVIDER": "docker",
    }


def test_without_any_engine_both_are_named_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        _find(FakeCommands(), tmp_path, installed=())

    assert str(caught.value) == (
        "no container engine that can run a node: docker: not on PATH; podman: not on PATH"
    )
    assert caught.value.hint == "install docker"


def test_the_way_out_is_for_the_engine_that_is_installed(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach("podman", "info", stderr="Error: permission denied", code=125)

    with pytest.raises(PrerequisiteError) as caught:
        _find(commands, tmp_path, installed=("podman",))

    assert str(caught.value) == (
        "no container engine that can run a node: docker: not on PATH;"
        " podman: Error: permission denied"
    )
    assert caught.value.hint == "add this user to the group that may use podman, or run as root"


def test_an_engine_that_says_nothing_in_time_is_not_used(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach("docker", "info", late=True)

    with pytest.raises(PrerequisiteError) as caught:
        _find(commands, tmp_path, installed=("docker",))

    assert "docker: no answer within 30 s" in str(caught.value)


def test_podman_gets_settings_of_ours_where_the_machine_needs_some(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach(
        "podman", "info", stdout=_podman(cgroupVersion="v1", ociRuntime={"name": "runc"})
    )

    found = _find(commands, tmp_path, here=machine(cgroup_v1=True), installed=("podman",))

    (settings,) = tmp_path.iterdir()
    assert found.environment["CONTAINERS_CONF"] == str(settings)
    assert found.cgroup_v1
    assert settings.read_text() == '[engine]\nruntime = "runc"\n'


def test_settings_that_the_user_gave_podman_are_left_as_they_are(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach(
        "podman", "info", stdout=_podman(cgroupVersion="v1", ociRuntime={"name": "runc"})
    )
    environ = {"CONTAINERS_CONF": "/mine.conf"}

    found = _find(
        commands,
        tmp_path,
        here=machine(cgroup_v1=True),
        installed=("podman",),
        environ=environ,
    )

    assert found.environment["CONTAINERS_CONF"] == "/mine.conf"
    assert list(tmp_path.iterdir()) == []


def test_a_full_machine_can_still_end_a_node_and_make_none(tmp_path: Path) -> None:
    commands = FakeCommands()
    commands.teach("docker", "info", stdout=_DOCKER)
    small = machine(memory_bytes=1024**3)

    ending = _find(commands, tmp_path, here=small, installed=("docker",), for_new_node=False)
    with pytest.raises(PrerequisiteError) as caught:
        _find(commands, tmp_path, here=small, installed=("docker",))

    assert ending.name == "docker"
    assert "docker: 1.0 GiB of memory, 2.0 GiB needed" in str(caught.value)


_V1 = EngineAnswer(name="podman", cgroup_v1=True, runtime="crun")


@pytest.mark.parametrize(
    ("answer", "here", "reasons"),
    [
        (EngineAnswer(name="docker"), machine(), ()),
        (
            EngineAnswer(name="docker", error=_NO_DOCKER),
            machine(),
            (Reason(why=_NO_DOCKER, fix="start the docker daemon"),),
        ),
        (
            EngineAnswer(name="podman", error="cannot clone"),
            machine(),
            (Reason(why="cannot clone", fix="repair podman: `podman info` must work"),),
        ),
        (
            _V1,
            machine(),
            (
                Reason(
                    why="crun does not run a node on cgroup v1, and runc is not there",
                    fix="install runc",
                ),
            ),
        ),
        (
            EngineAnswer(name="podman", cgroup_v1=True, rootless=True, runtime="runc"),
            machine(),
            (
                Reason(
                    why="without root's rights a node needs cgroup v2, and this machine has v1",
                    fix="run podman as root",
                ),
            ),
        ),
        (
            EngineAnswer(name="podman", network_backend="cni"),
            machine(),
            (
                Reason(
                    why="podman has no network program: neither netavark nor the CNI plug-ins",
                    fix="install netavark",
                ),
            ),
        ),
        (EngineAnswer(name="podman", version="4.3.1"), machine(), ()),
        (
            EngineAnswer(name="podman", version="3.4.4"),
            machine(),
            (
                Reason(
                    why="podman 3.4.4, 4 or newer needed", fix="install a newer podman, or Docker"
                ),
            ),
        ),
        (
            EngineAnswer(name="docker"),
            machine(inotify_instances=64),
            (
                Reason(
                    why="64 inotify instances, 128 needed",
                    fix="run sysctl -w fs.inotify.max_user_instances=128",
                ),
            ),
        ),
    ],
)
def test_every_reason_against_an_engine_has_its_fix(
    answer: EngineAnswer, here: Machine, reasons: tuple[Reason, ...]
) -> None:
    assert reasons_against(answer, here) == reasons


def test_free_disk_is_asked_where_the_engine_keeps_its_images(tmp_path: Path) -> None:
    answer = EngineAnswer(name="docker", store=tmp_path)

    full = reasons_against(answer, machine(), free_bytes=lambda _: FREE_BYTES - 1)
    enough = reasons_against(answer, machine(), free_bytes=lambda _: FREE_BYTES)

    assert [reason.fix for reason in full] == ["free some disk"]
    assert enough == ()


def test_podman_needs_no_settings_on_an_ordinary_machine() -> None:
    assert podman_settings(machine(), network_backend="netavark") is None


def test_every_setting_of_podman_cures_something_that_was_seen_on_the_machine() -> None:
    here = machine(may_raise_limits=False, open_files_hard=20000, systemd=False, cgroup_v1=True)

    text = podman_settings(here, network_backend="cni")

    assert text is not None
    assert text.splitlines() == [
        "[containers]",
        'default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]',
        "pids_limit = 0",
        "[engine]",
        'cgroup_manager = "cgroupfs"',
        'events_logger = "file"',
        'runtime = "runc"',
        "[network]",
        'network_backend = "netavark"',
    ]


def test_this_machine_can_be_looked_at() -> None:
    here = look("")

    assert here.pid_max > 0
    assert here.memory_bytes > 0
    assert here.runc is None


def test_a_command_that_the_engine_refuses_is_an_error_with_its_last_line() -> None:
    commands = FakeCommands()
    commands.teach("podman", "load", stderr="warning: x\nError: no space left\n", code=125)

    with pytest.raises(ClusterError) as caught:
        engine(commands).call("load", "--input", "/x.tar")

    assert str(caught.value) == "podman load --input: Error: no space left"
