"""What nodes change on a machine is put back, once, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.cluster.kind.host_settings import HostSettings
from harness.cluster.kind.netfilter import undo_commands
from harness.cluster.locks import locked
from tests.unit.cluster.kind.fakes import FakeCommands, engine

_BEFORE = """*filter
:INPUT ACCEPT [0:0]
:DOCKER - [0:0]
-A FORWARD -j DOCKER
COMMIT
"""

_AFTER = """*filter
:INPUT ACCEPT [0:0]
:DOCKER - [0:0]
:NETAVARK_FORWARD - [0:0]
-A FORWARD -j DOCKER
-A FORWARD -m comment --comment "netavark firewall plugin rules" -j NETAVARK_FORWARD
-A FORWARD -s 10.1.0.0/16 -j ACCEPT
COMMIT
*nat
:NETAVARK-HOSTPORT-MASQ - [0:0]
-A POSTROUTING -j NETAVARK-HOSTPORT-MASQ
-A NETAVARK-HOSTPORT-MASQ -m mark --mark 0x2000/0x2000 -j MASQUERADE
COMMIT
"""


class Host:
    """A machine in a folder: files of /proc, and rules that commands print."""

    def __init__(self, root_dir: Path) -> None:
        self.root_dir = root_dir
        self.rules: dict[str, str] = {"iptables-save": "", "ip6tables-save": ""}
        self.ran: list[tuple[str, ...]] = []
        self.commands = FakeCommands()
        self.commands.teach("podman", "network", "ls", stdout="podman\n")
        self.commands.teach("podman", "network", "rm", "kind")
        self.commands.teach("podman", "ps", "--quiet", stdout="")
        self.engine = engine(self.commands)
        self.set({"kernel/panic": "1", "net/ipv4/ip_forward": "0"})

    def settings(self) -> HostSettings:
        """Return the room's view of it, as another process would have it."""
        return HostSettings(
            notes_dir=self.root_dir / "notes", root_dir=self.root_dir, command=self._command
        )

    def set(self, sysctls: Mapping[str, str]) -> None:
        """Write sysctls."""
        for name, value in sysctls.items():
            path = self.root_dir / "proc" / "sys" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{value}\n")

    def get(self, name: str) -> str:
        """Read a sysctl."""
        return (self.root_dir / "proc" / "sys" / name).read_text().strip()

    def run_node(self) -> Path:
        """Let a kubelet run, which sets what it sets; return its folder."""
        comm = self.root_dir / "proc" / "4711" / "comm"
        comm.parent.mkdir(parents=True, exist_ok=True)
        comm.write_text("kubelet\n")
        self.set({"kernel/panic": "10", "net/ipv4/ip_forward": "1"})
        return comm

    def _command(self, *argv: str) -> str:
        if argv[0] in self.rules:
            return self.rules[argv[0]]
        self.ran.append(argv)
        return ""


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def _note(host: Host) -> None:
    with host.settings().noted(host.engine, progress=lambda _: None):
        pass


def test_what_the_last_node_leaves_is_as_it_was_before_the_first(host: Host) -> None:
    _note(host)
    host.run_node().unlink()

    host.settings().restore(host.engine)

    assert (host.get("kernel/panic"), host.get("net/ipv4/ip_forward")) == ("1", "0")
    assert not (host.root_dir / "lib" / "modules").exists()
    assert not host.settings().pending()


def test_a_second_cluster_does_not_take_what_the_first_changed_for_what_was(host: Host) -> None:
    _note(host)
    comm = host.run_node()
    _note(host)
    comm.unlink()

    host.settings().restore(host.engine)

    assert host.get("kernel/panic") == "1"


def test_nothing_is_put_back_while_a_node_runs(host: Host) -> None:
    _note(host)
    host.run_node()

    host.settings().restore(host.engine)

    assert host.get("kernel/panic") == "10"
    assert not host.settings().pending()


def test_what_a_killed_harness_changed_waits_to_be_put_back(host: Host) -> None:
    _note(host)
    host.run_node().unlink()

    assert host.settings().pending()


def test_nothing_is_put_back_while_another_process_makes_a_cluster(host: Host) -> None:
    _note(host)
    host.run_node().unlink()
    lock = host.root_dir / "notes" / "kind.lock"

    with locked(lock, what="a kind cluster", timeout_s=1, progress=lambda _: None):
        host.settings().restore(host.engine)
        pending = host.settings().pending()

    assert host.get("kernel/panic") == "10"
    assert not pending


def test_a_machine_that_nobody_noted_is_left_alone(host: Host) -> None:
    host.run_node().unlink()

    host.settings().restore(host.engine)

    assert host.get("kernel/panic") == "10"
    assert host.commands.seen == []


def test_without_roots_rights_nothing_is_noted_and_nothing_put_back(host: Host) -> None:
    settings = HostSettings(notes_dir=None, root_dir=host.root_dir, command=host._command)

    with settings.noted(host.engine, progress=lambda _: None):
        pass
    settings.restore(host.engine)

    assert not settings.pending()
    assert host.commands.seen == []


def test_a_network_that_was_not_there_goes_and_one_that_was_stays(host: Host) -> None:
    _note(host)
    host.commands.teach("podman", "network", "ls", stdout="podman\nkind\n")
    host.settings().restore(host.engine)
    removed = ("podman", "network", "rm", "kind") in host.commands.seen
    host.commands.seen.clear()

    _note(host)
    host.settings().restore(host.engine)

    assert removed
    assert ("podman", "network", "rm", "kind") not in host.commands.seen


def test_rules_stay_while_a_container_of_anybodys_runs(host: Host) -> None:
    _note(host)
    host.rules["iptables-save"] = _AFTER
    host.commands.teach("podman", "ps", "--quiet", stdout="c0ffee\n")

    host.settings().restore(host.engine)

    assert host.ran == []


def test_rules_of_podman_go_with_its_last_container(host: Host) -> None:
    _note(host)
    host.rules["iptables-save"] = _AFTER

    host.settings().restore(host.engine)

    assert ("iptables", "-t", "nat", "-X", "NETAVARK-HOSTPORT-MASQ") in host.ran
    assert {argv[0] for argv in host.ran} == {"iptables"}


def test_only_podmans_new_rules_are_taken_out_and_before_their_chains() -> None:
    assert undo_commands(_BEFORE, _AFTER) == (
        (
            *("-t", "filter", "-D", "FORWARD", "-m", "comment"),
            *("--comment", "netavark firewall plugin rules", "-j", "NETAVARK_FORWARD"),
        ),
        ("-t", "nat", "-D", "POSTROUTING", "-j", "NETAVARK-HOSTPORT-MASQ"),
        ("-t", "filter", "-F", "NETAVARK_FORWARD"),
        ("-t", "nat", "-F", "NETAVARK-HOSTPORT-MASQ"),
        ("-t", "filter", "-X", "NETAVARK_FORWARD"),
        ("-t", "nat", "-X", "NETAVARK-HOSTPORT-MASQ"),
    )


def test_rules_that_were_there_before_are_left() -> None:
    assert undo_commands(_AFTER, _AFTER) == ()
    assert undo_commands(_AFTER, _BEFORE) == ()
