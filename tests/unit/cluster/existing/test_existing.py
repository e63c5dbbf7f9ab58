"""A context is used when it is named, allowed and proved, and in no other case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cluster.existing.allowed import allowed_contexts_path
from harness.cluster.existing.contexts import parse_context, write_copy
from harness.cluster.existing.provider import INVENTORY_FILE, state_name
from harness.cluster.home import stale_state_dirs
from harness.cluster.identity import read_identity, record_identity
from harness.cluster.provider import Cluster
from harness.cluster.toolchain import Toolchain
from harness.core.files import read_json
from harness.errors import AnotherClusterError, ClusterError, ConfigError, TeardownError
from tests.unit.cluster.existing.fakes import SERVER, Person, encoded, minified


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def _provision(person: Person, **named: Any) -> Cluster:
    toolchain = Toolchain(
        root=person.home, cache_dir=person.home, environ=person.environ, progress=print
    )
    return person.provider(**named).provision(person.home, toolchain=toolchain, progress=print)


def _modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir() if path.is_file()}


def test_a_context_that_is_not_named_is_refused(person: Person) -> None:
    with pytest.raises(ConfigError) as caught:
        _provision(person, context=None)

    assert str(caught.value) == "the provider 'existing' works on no context that is not named"
    assert (caught.value.exit_code, caught.value.hint) == (
        3,
        "name one with --context or STRANDLINE_CONTEXT",
    )


def test_a_context_that_is_not_allowed_is_refused_with_the_lines_to_add(person: Person) -> None:
    with pytest.raises(ConfigError) as caught:
        _provision(person)

    assert str(caught.value) == f"context 'prod' is not allowed: no entry in {person.list_path}"
    lines = f'contexts:\n  - {{ context: "prod", server: "{SERVER}" }}'
    assert caught.value.hint == f"add these lines to {person.list_path}:\n{lines}"
    person.allows(lines)
    assert _provision(person).server == SERVER


def test_a_context_that_was_pointed_elsewhere_is_refused(person: Person) -> None:
    person.allows()
    person.kubectl.answers("context", minified(server="https://10.0.0.2:6443"))

    with pytest.raises(ConfigError) as caught:
        _provision(person)

    assert str(caught.value) == (
        f"context 'prod' points to https://10.0.0.2:6443, and {person.list_path} allows it for "
        f"{SERVER}"
    )


def test_a_list_that_is_no_list_is_refused_with_its_line(person: Person) -> None:
    person.allows("contexts:\n  - { context: prod, url: x }\n")

    with pytest.raises(ConfigError, match=r"allowed-contexts.yaml:2: contexts.0.url: unknown key"):
        _provision(person)


def test_without_an_image_nothing_is_kept(person: Person) -> None:
    person.allows()

    with pytest.raises(ConfigError, match="no image of the laboratory's services is named"):
        _provision(person, image=None)

    assert not person.home.exists()


def test_a_stack_of_somebodys_own_needs_no_image_and_is_promised_no_webhook(
    person: Person,
) -> None:
    person.allows()

    cluster = _provision(person, image=None, laboratory=False)

    assert cluster.capabilities == {"controller_manager", "nodes"}
    assert cluster.image is None


def test_a_provisioned_cluster_promises_neither_audit_nor_the_inside_of_a_node(
    person: Person,
) -> None:
    person.allows()

    cluster = _provision(person)

    assert cluster.capabilities == {"controller_manager", "nodes", "webhook"}
    assert (cluster.audit_log_path, cluster.image) == (None, "registry.test/lab:1")
    assert person.provider().node(cluster) is None
    assert read_identity(cluster.state_dir) == "uid-1"
    assert stale_state_dirs(person.home) == ()  # no process answers for it, and none has died
    assert person.provider().find(person.home) == cluster


def test_a_cluster_without_nodes_does_not_promise_any(person: Person) -> None:
    person.allows()
    person.kubectl.answers("nodes", {"items": []})

    assert "nodes" not in _provision(person).capabilities


def test_keys_are_files_that_only_their_owner_reads(person: Person) -> None:
    person.allows()

    cluster = _provision(person)

    user = read_json(cluster.kubeconfig)["users"][0]["user"]
    key = cluster.state_dir / "client.key"
    assert user["client-key"] == str(key)
    assert key.read_text() == "KEY"
    assert encoded("KEY") not in cluster.kubeconfig.read_text()
    names = ("ca.crt", "client.crt", "client.key", "cluster.json", "identity.json", "kubeconfig")
    modes = _modes(cluster.state_dir)
    assert {name: modes[name] for name in names} == dict.fromkeys(names, 0o600)


@pytest.mark.parametrize(
    "user", [{"token": "t"}, {"tokenFile": "/run/token"}, {"exec": {"command": "cloud-login"}}]
)
def test_tokens_and_plugins_are_kept_as_they_are(user: dict[str, Any], tmp_path: Path) -> None:
    context = parse_context("prod", minified(user=user), where="here")

    path = write_copy(context, tmp_path)

    assert read_json(path)["users"][0]["user"] == user
    assert str(context).count("token") == 0


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (minified(cluster={"insecure-skip-tls-verify": True}), "insecure-skip-tls-verify"),
        (minified(cluster={"proxy-url": "http://p"}), "proxy-url"),
        (minified(cluster={"certificate-authority-data": ""}), "names no certificate authority"),
        (minified(user={"tokenFile": "tok"}), "tokenFile 'tok', a relative path"),
        (minified(user={"exec": {"command": "./x"}}), "exec.command './x', a relative path"),
    ],
)
def test_what_an_agent_could_not_be_given_is_refused(
    document: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_context("prod", document, where="here")


def test_another_cluster_at_the_address_is_refused(person: Person) -> None:
    person.allows()
    _provision(person)
    person.kubectl.answers("namespace", {"metadata": {"uid": "uid-2"}})

    with pytest.raises(AnotherClusterError) as found:
        person.provider().find(person.home)
    with pytest.raises(AnotherClusterError):
        _provision(person)

    assert (found.value.expected, found.value.found, found.value.exit_code) == ("uid-1", "uid-2", 6)


def test_a_home_without_anybodys_cluster_asks_for_no_name(person: Person) -> None:
    assert person.provider(context=None).find(person.home) is None


def test_another_context_than_the_provisioned_one_is_not_taken_for_gone(person: Person) -> None:
    person.allows()
    _provision(person)
    person.allows(f"contexts:\n  - {{ context: test, server: '{SERVER}' }}\n")

    with pytest.raises(ClusterError) as caught:
        person.provider(context="test").find(person.home)

    assert str(caught.value) == "context 'test' is not provisioned, existing-prod is"


def test_no_cluster_is_made_where_none_is_provisioned(person: Person) -> None:
    toolchain = Toolchain(
        root=person.home, cache_dir=person.home, environ=person.environ, progress=print
    )

    with pytest.raises(ClusterError, match="no cluster is made in its place"):
        person.provider().ephemeral(person.home, toolchain=toolchain, progress=print)


def test_what_answers_for_a_platform_is_not_forgotten_before_the_sweep(person: Person) -> None:
    person.allows()
    cluster = _provision(person)
    record = cluster.state_dir / INVENTORY_FILE
    record.write_text("{}")

    with pytest.raises(TeardownError, match="it was not swept"):
        person.provider().teardown(person.home)

    record.unlink()
    person.provider().teardown(person.home)
    person.provider().teardown(person.home)
    assert not cluster.state_dir.exists()


def test_a_state_folder_never_changes_its_cluster(tmp_path: Path) -> None:
    record_identity(tmp_path, "uid-1")
    record_identity(tmp_path, "uid-1")

    with pytest.raises(AnotherClusterError):
        record_identity(tmp_path, "uid-2")


def test_a_folder_without_an_identity_may_not_be_taken_down(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="no UID of a cluster"):
        read_identity(tmp_path)


def test_names_of_contexts_that_look_alike_get_folders_of_their_own() -> None:
    names = {state_name(name) for name in ("a/b", "a:b", "a-b", "x" * 80, "x" * 81)}

    assert len(names) == 5
    assert state_name("prod") == "existing-prod"
    assert all("/" not in name for name in names)


def test_the_list_is_where_configuration_is() -> None:
    assert str(allowed_contexts_path({"HOME": "/h"})) == (
        "/h/.config/strandline/allowed-contexts.yaml"
    )
