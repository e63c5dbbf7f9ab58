"""What an agent's process sees, and that nothing of it stays."""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.agents.sandbox import (
    Identity,
    agent_path,
    build_workspace,
    kubeconfig_document,
    passed_environment,
)
from harness.errors import ConfigError

IDENTITY = Identity(
    server="https://127.0.0.1:6443", ca_pem=b"PEM", token="token-of-the-agent", namespace="lab-1"
)

AMBIENT = {
    "PATH": "/usr/bin:.:relative:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "KUBECONFIG": "/root/admin",
    "TF_VAR_x": "1",
    "STRANDLINE_HOME": "/x",
    "OPENAI_API_KEY": "sk-123456789",
    "AWS_SECRET_ACCESS_KEY": "a",
    "MY_KEY": "key-of-the-user",
}


@pytest.fixture
def kubectl(tmp_path: Path) -> Path:
    path = tmp_path / "real-kubectl"
    path.touch(mode=0o755)
    return path


def test_the_environment_holds_what_is_listed_and_nothing_else(
    tmp_path: Path, kubectl: Path
) -> None:
    with build_workspace(IDENTITY, kubectl=kubectl, ambient=AMBIENT, parent_dir=tmp_path) as found:
        bin_dir = found.kubectl.parent
        assert found.environment == {
            "LANG": "C.UTF-8",
            "PATH": f"{bin_dir}:/usr/bin:/bin",
            "HOME": str(found.home),
            "KUBECONFIG": str(found.kubeconfig),
        }
        assert found.kubectl.resolve() == kubectl


def test_a_variable_is_handed_on_by_name_and_is_a_secret(tmp_path: Path, kubectl: Path) -> None:
    with build_workspace(
        IDENTITY, kubectl=kubectl, agent_env=["MY_KEY"], ambient=AMBIENT, parent_dir=tmp_path
    ) as found:
        assert found.environment["MY_KEY"] == "key-of-the-user"
        assert found.secrets == ("token-of-the-agent", "key-of-the-user")
        assert "key-of-the-user" not in repr(found)
        assert "token-of-the-agent" not in repr(found)


def test_only_the_owner_may_enter_the_home_and_read_the_token(
    tmp_path: Path, kubectl: Path
) -> None:
    with build_workspace(IDENTITY, kubectl=kubectl, ambient=AMBIENT, parent_dir=tmp_path) as found:
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (found.home, found.kubeconfig)]
        document = json.loads(found.kubeconfig.read_bytes())

    assert modes == [0o700, 0o600]
    assert document["users"] == [{"name": "agent", "user": {"token": "token-of-the-agent"}}]


def test_a_workspace_is_removed_whatever_was_done_to_it(tmp_path: Path, kubectl: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)

    with build_workspace(IDENTITY, kubectl=kubectl, ambient=AMBIENT, parent_dir=tmp_path) as found:
        locked = found.home / "a" / "b"
        locked.mkdir(parents=True)
        (locked / "c").touch()
        locked.chmod(0)
        (found.home / "link").symlink_to(outside)
        (found.home / "dangling").symlink_to("/nowhere")

    assert sorted(tmp_path.iterdir()) == [outside, kubectl]
    assert stat.S_IMODE(outside.stat().st_mode) == 0o755


def test_a_workspace_whose_home_the_agent_removed_ends_without_an_error(
    tmp_path: Path, kubectl: Path
) -> None:
    with build_workspace(IDENTITY, kubectl=kubectl, ambient=AMBIENT, parent_dir=tmp_path) as found:
        found.kubeconfig.unlink()
        found.home.rmdir()

    assert list(tmp_path.iterdir()) == [kubectl]


def test_a_kubeconfig_is_built_from_nothing() -> None:
    document = kubeconfig_document(IDENTITY, ca_path=Path("/w/ca.crt"))

    assert document == {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "agent",
        "clusters": [
            {
                "name": "lab",
                "cluster": {
                    "server": "https://127.0.0.1:6443",
                    "certificate-authority": "/w/ca.crt",
                },
            }
        ],
        "users": [{"name": "agent", "user": {"token": "token-of-the-agent"}}],
        "contexts": [
            {"name": "agent", "context": {"cluster": "lab", "user": "agent", "namespace": "lab-1"}}
        ],
    }


def test_a_server_known_by_another_name_is_checked_by_that_name() -> None:
    identity = Identity(
        server="https://127.0.0.1:1", ca_pem=b"", token="t", namespace="n", tls_server_name="api.x"
    )

    document = kubeconfig_document(identity, ca_path=Path("/ca"))

    assert document["clusters"][0]["cluster"]["tls-server-name"] == "api.x"


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["PATH"], "--agent-env PATH: the agent may not be given this variable"),
        (["KUBECONFIG"], "--agent-env KUBECONFIG: the agent may not be given this variable"),
        (["TF_VAR_x"], "--agent-env TF_VAR_x: the agent may not be given this variable"),
        (
            ["STRANDLINE_HOME"],
            "--agent-env STRANDLINE_HOME: the agent may not be given this variable",
        ),
        (["MY_KEY", "ABSENT"], "--agent-env ABSENT: not set in the environment"),
    ],
)
def test_a_variable_that_may_not_be_handed_on_is_refused(
    names: Sequence[str], problem: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        passed_environment(names, ambient=AMBIENT)

    assert str(caught.value) == problem


def test_relative_folders_leave_the_path() -> None:
    path = agent_path(Path("/w/bin"), "/usr/bin::.:x/y:/bin")

    assert path == "/w/bin:/usr/bin:/bin"
