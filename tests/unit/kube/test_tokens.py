"""A token in a file that is renewed while a client lives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigError
from harness.kube.tokens import TokenFile, token_file_of
from tests.unit.kube.fakes import FakePool, client_of, response


def write_kubeconfig(folder: Path, user: dict[str, Any] | None) -> Path:
    value = {
        "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "other", "user": {"tokenFile": "wrong"}}, {"name": "lab", "user": user}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(value))
    return path


def swap(folder: Path, token: str) -> None:
    """Renew as kubelet does: a new folder, and a link that is moved over the old one."""
    home = folder / f"..{token}"
    home.mkdir()
    (home / "token").write_text(f"{token}\n")
    (folder / "..new").symlink_to(home.name)
    (folder / "..new").rename(folder / "..data")
    if not (folder / "token").is_symlink():
        (folder / "token").symlink_to("..data/token")


def test_a_renewed_token_is_read_at_the_next_request(tmp_path: Path) -> None:
    swap(tmp_path, "first")
    tokens = TokenFile(tmp_path / "token")

    before = tokens.token()
    swap(tmp_path, "second")
    after = tokens.token()

    assert (before, after) == ("first", "second")


def test_every_request_carries_the_token_of_the_moment_and_no_other(tmp_path: Path) -> None:
    swap(tmp_path, "first")
    pool = FakePool(response(200, {}), response(200, {}))
    client = client_of(pool, TokenFile(tmp_path / "token"))

    client.call("GET", "/version")
    swap(tmp_path, "second")
    client.as_service_account("lab", "grader").call("GET", "/version")

    sent = [[value for name, value in asked[3] if name == "Authorization"] for asked in pool.asked]
    assert sent == [["Bearer first"], ["Bearer second"]]


def test_a_file_that_is_gone_for_a_moment_leaves_the_last_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("first")
    tokens = TokenFile(path)
    tokens.token()

    path.unlink()

    assert tokens.token() == "first"


def test_a_file_that_never_was_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "token"

    with pytest.raises(ConfigError) as caught:
        TokenFile(path).token()

    assert str(caught.value) == f"{path}: No such file or directory"


@pytest.mark.parametrize("user", [None, {}, {"token": "t"}])
def test_a_kubeconfig_without_a_token_file_names_none(
    tmp_path: Path, user: dict[str, Any] | None
) -> None:
    assert token_file_of(write_kubeconfig(tmp_path, user)) is None


def test_a_token_file_is_looked_for_beside_its_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("t")

    found = token_file_of(write_kubeconfig(tmp_path, {"tokenFile": "mine"}))

    assert found is not None
    assert found.token() == "t"
