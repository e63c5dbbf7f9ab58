"""What a stack of somebody's own made outside of its cluster goes before the cluster does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from harness.bench.elsewhere import destroy_elsewhere, settle_abandoned
from harness.bench.record import Record
from harness.bench.teardown import end_cluster, forget_cluster
from harness.bench.tools import Tools
from harness.cluster.home import state_dir_of
from harness.cluster.toolchain import Toolchain
from harness.core.files import append_line
from harness.errors import TeardownError
from harness.terraform.stack import Stack
from tests.unit.bench.fakes import FakeProvider, cluster_of, tools_of

_KUBECTL = 'provider["registry.terraform.io/gavinbunney/kubectl"]'
_CLOUD = 'provider["registry.terraform.io/example/cloud"]'

#: Takes a command down in a file beside it; empties the state where it destroys, if it may.
_ENGINE = """\
#!/bin/sh
[ "$1" = version ] && { echo "Terraform v1.11.4"; exit 0; }
echo "$1 $2" >> "$(dirname "$0")/asked"
[ "$1" = destroy ] || exit 0
[ -e "$(dirname "$0")/broken" ] && { echo "Error: no way to the cloud" >&2; exit 1; }
echo '{"version": 4, "serial": 9, "lineage": "l", "resources": []}' > terraform.tfstate
"""


class FakeToolchain:
    """Has an engine and a mirror of providers, and nothing else."""

    def __init__(self, engine: Path) -> None:
        self._engine = engine

    def ensure_terraform(self) -> Path:
        """Return the engine."""
        return self._engine

    def provider_mirror(self) -> Path:
        """Return where nothing is."""
        return Path("/nowhere")


@dataclass(slots=True, kw_only=True)
class Home:
    """A home with the state folder of one cluster, and an engine that only writes down."""

    tools: Tools
    state_dir: Path
    engine_dir: Path
    record: Record

    def asked(self) -> list[str]:
        """Return the commands of the engine."""
        path = self.engine_dir / "asked"
        return path.read_text().splitlines() if path.exists() else []

    def apply(self, *providers: str) -> None:
        """Have a stack with a resource of each provider."""
        stack = Stack.create(
            self.tools.engine,
            stack_dir=self.record.stack_dir,
            policies_dir=None,
            work_dir=self.state_dir / "platform",
            values={},
            environment={},
            log_path=self.state_dir / "terraform.log",
        )
        append_line(
            stack.work_dir / "journal.jsonl",
            {"begin": "apply", "at": "2026-01-01T00:00:00+00:00", "addresses": [], "creates": []}
            | {"owner": {"pid": 1, "started_ticks": 1}},
        )
        ended = {"end": "apply", "at": "2026-01-01T00:00:01+00:00", "outcome": "done"}
        append_line(stack.work_dir / "journal.jsonl", ended)
        resources: list[dict[str, Any]] = [
            {
                "mode": "managed",
                "type": "thing",
                "name": f"n{number}",
                "provider": provider,
                "instances": [{"attributes": {}}],
            }
            for number, provider in enumerate(providers)
        ]
        state = {"version": 4, "serial": 3, "lineage": "l", "resources": resources}
        (stack.module_dir / "terraform.tfstate").write_text(json.dumps(state))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    engine_dir, stack_dir = tmp_path / "engine", tmp_path / "stack"
    for folder in (engine_dir, stack_dir):
        folder.mkdir()
    (stack_dir / "main.tf").write_text("")
    binary = engine_dir / "terraform"
    binary.write_text(_ENGINE)
    binary.chmod(0o755)
    state_dir = state_dir_of(tmp_path, "provisioned")
    record = Record(
        stack_dir=stack_dir, policies_dir=stack_dir, overrides={}, laboratory=False, files={}
    )
    record.write(state_dir, complete=True)
    toolchain = cast("Toolchain", FakeToolchain(binary))
    tools = replace(tools_of(tmp_path), toolchain=toolchain)
    return Home(tools=tools, state_dir=state_dir, engine_dir=engine_dir, record=record)


def test_what_is_outside_of_the_cluster_is_destroyed_and_what_is_in_it_is_dropped(
    home: Home,
) -> None:
    home.apply(_KUBECTL, _CLOUD)

    destroy_elsewhere(home.tools, home.state_dir)

    assert [line.split()[0] for line in home.asked()] == ["state", "destroy"]


@pytest.mark.parametrize("providers", [(), (_KUBECTL,)])
def test_nothing_is_run_where_all_of_it_ends_with_the_cluster(
    home: Home, providers: Sequence[str]
) -> None:
    home.apply(*providers)

    destroy_elsewhere(home.tools, home.state_dir)

    assert home.asked() == []


def test_our_own_platform_is_in_the_cluster_whatever_its_state_says(home: Home) -> None:
    home.apply(_CLOUD)
    replace(home.record, laboratory=True).write(home.state_dir, complete=True)

    destroy_elsewhere(home.tools, home.state_dir)

    assert home.asked() == []


def test_a_copy_that_is_not_whole_was_never_applied(home: Home) -> None:
    (home.state_dir / "platform").mkdir()

    destroy_elsewhere(home.tools, home.state_dir)

    assert home.asked() == []


@pytest.mark.parametrize("lives", [True, False])
def test_a_cluster_with_something_left_outside_of_it_is_not_ended(
    home: Home, *, lives: bool
) -> None:
    home.apply(_CLOUD)
    (home.engine_dir / "broken").touch()
    cluster = replace(cluster_of(home.tools.home, "provisioned"), provider="embedded")
    cluster.save(home.state_dir / "cluster.json")
    provider = FakeProvider("embedded", cluster=cluster if lives else None)

    with pytest.raises(TeardownError) as caught:
        end_cluster(home.tools, provider)

    assert "no way to the cloud" in caught.value.leftovers[0]
    assert str(home.state_dir / "platform") in caught.value.leftovers[0]
    assert provider.ended == 0


def test_the_state_of_another_kind_of_cluster_is_not_looked_at(home: Home) -> None:
    home.apply(_CLOUD)
    cluster_of(home.tools.home, "provisioned").save(home.state_dir / "cluster.json")

    end_cluster(home.tools, FakeProvider("embedded"))

    assert home.asked() == []


def test_a_cluster_is_not_forgotten_before_what_is_outside_of_it_is_destroyed(home: Home) -> None:
    home.apply(_CLOUD)
    (home.engine_dir / "broken").touch()
    gone = home.state_dir.rename(home.state_dir.with_name("existing-gone"))
    provider = FakeProvider("existing", keeps=True)

    with pytest.raises(TeardownError):
        forget_cluster(home.tools, provider, name=gone.name)
    kept = gone.is_dir()
    (home.engine_dir / "broken").unlink()
    forget_cluster(home.tools, provider, name=gone.name)

    assert kept
    assert not gone.exists()


def test_the_state_of_a_dead_cluster_is_not_removed_before_what_is_outside_of_it(
    home: Home,
) -> None:
    home.apply(_CLOUD)
    nobody = {"pid": 1, "started_ticks": 1}
    (home.state_dir / "ledger.json").write_text(json.dumps({"owner": nobody, "processes": {}}))

    settle_abandoned(home.tools)

    assert [line.split()[0] for line in home.asked()] == ["destroy"]


def test_a_state_that_cannot_be_read_is_something_left(home: Home) -> None:
    home.apply(_KUBECTL)
    (state,) = home.state_dir.rglob("terraform.tfstate")
    state.write_text("{")

    with pytest.raises(TeardownError, match="the state is damaged"):
        destroy_elsewhere(home.tools, home.state_dir)
