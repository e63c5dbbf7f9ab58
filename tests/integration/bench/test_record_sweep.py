"""What a record names goes, whatever would keep it, and nothing of a stranger's is touched."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.bench.inventory import read_inventory
from harness.bench.platform_sweep import STEPS
from harness.cluster.provider import Cluster
from harness.core.naming import PLATFORM_LABEL
from harness.core.process import run, scrubbed_environment
from harness.kube.client import KubeClient
from harness.kube.identity_guard import ProvenClient, prove_identity
from harness.kube.resources import (
    API_SERVICES,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    NAMESPACES,
    VALIDATING_WEBHOOKS,
)
from harness.kube.sweep import Phase, sweep_namespace
from tests.integration.bench.record_world import World, manifest_of
from tests.integration.kube.obstacles import (
    Strangers,
    await_dead_api,
    await_kind,
    await_webhook,
    converted,
    dead_api,
    dead_webhook,
    thing_of,
)

ROOT = Path(__file__).resolve().parents[3]
FORGED = {PLATFORM_LABEL: "true"}


@pytest.fixture(scope="module")
def client(cluster: Cluster) -> Iterator[ProvenClient]:
    plain = KubeClient.from_kubeconfig(cluster.kubeconfig)
    yield prove_identity(plain, plain.identity())
    plain.close()


@pytest.fixture(scope="module")
def standing_strangers(client: ProvenClient) -> Iterator[Strangers]:
    """A namespace with an object, and a role, with our label forged on each."""
    made = Strangers(client=client)
    word = f"theirs-{secrets.token_hex(3)}"
    made.make(NAMESPACES, {"metadata": {"name": word, "labels": FORGED}})
    kept = {"metadata": {"name": f"{word}-kept", "labels": FORGED}}
    made.make(CONFIG_MAPS, kept, namespace=word)
    made.make(CLUSTER_ROLES, {"metadata": {"name": f"{word}-role", "labels": FORGED}})
    yield made
    made.remove(f"{word}-role")
    assert sweep_namespace(client, word, kinds=client.discover()).leftovers == ()


@pytest.fixture
def strangers(standing_strangers: Strangers) -> Iterator[Strangers]:
    """These and what a test adds to them; none may have been touched when it ends."""
    client = standing_strangers.client
    made = Strangers(client=client, made=[*standing_strangers.made])
    try:
        yield made
        assert made.touched() == []
    finally:
        for one in reversed([one for one in made.made if one not in standing_strangers.made]):
            made.remove(one[1])


@pytest.fixture
def world(client: ProvenClient, tmp_path: Path) -> World:
    return World(client=client, state_dir=tmp_path / "ours")


def test_all_that_a_record_names_goes_whatever_would_keep_it_and_forged_labels_are_named(
    world: World, strangers: Strangers
) -> None:
    world.build()
    steps: list[str] = []

    swept = world.sweep(on_step=steps.append)
    again = world.sweep()

    assert (swept.deleted, swept.leftovers) == (len(world.made), ())
    assert world.standing() == []
    assert steps == list(STEPS)
    theirs = {f"{kind.qualified} {_place(one)}" for kind, *one in strangers.made}
    assert _named_among(swept.strangers, theirs, world) == theirs
    assert strangers.touched() == []
    assert read_inventory(world.state_dir) is None
    # With the record gone nobody knows whose a label is, so it is named as ours would be.
    assert again.deleted == 0
    assert {left.object for left in again.leftovers} == set(swept.strangers)


def test_a_sweep_that_was_killed_after_any_step_is_taken_up_by_the_next_one(
    world: World, cluster: Cluster, strangers: Strangers
) -> None:
    world.build()
    script = ROOT / "tests/integration/bench/killed_sweep.py"
    until_records = STEPS[:-1]

    killed = run(
        [
            sys.executable,
            str(script),
            str(cluster.kubeconfig),
            str(world.state_dir),
            *until_records,
        ],
        env=scrubbed_environment({"PYTHONPATH": str(ROOT)}),
        timeout_s=60,
    )
    kept = read_inventory(world.state_dir)
    swept = world.sweep()

    assert killed.stdout.splitlines() == [f"{step} 9" for step in until_records], killed.stderr
    assert kept is not None
    assert (swept.deleted, swept.leftovers) == (0, ())
    assert world.standing() == []
    assert strangers.touched() == []


def test_one_more_run_is_enough_after_a_kill_and_a_third_finds_nothing_of_ours(
    world: World, cluster: Cluster, strangers: Strangers
) -> None:
    world.build(obstacles=False)
    step = Phase.CUSTOM
    script = ROOT / "tests/integration/bench/killed_sweep.py"

    killed = run(
        [sys.executable, str(script), str(cluster.kubeconfig), str(world.state_dir), step],
        env=scrubbed_environment({"PYTHONPATH": str(ROOT)}),
        timeout_s=60,
    )
    before = world.standing()
    swept = world.sweep()
    again = world.sweep()

    assert killed.stdout == f"{step} 9\n", killed.stderr
    assert len(before) > 0
    assert swept.leftovers == ()
    assert world.standing() == []
    theirs = {f"{kind.qualified} {_place(one)}" for kind, *one in strangers.made}
    named = [left.object for left in again.leftovers]
    assert (again.deleted, _named_among(named, theirs, world)) == (0, theirs)


def test_two_sweeps_side_by_side_take_each_its_own(client: ProvenClient, tmp_path: Path) -> None:
    worlds = [World(client=client, state_dir=tmp_path / name) for name in ("a", "b")]
    for one in worlds:
        one.build(obstacles=False)

    with ThreadPoolExecutor(2) as pool:
        swept = list(pool.map(World.sweep, worlds))

    assert [one.leftovers for one in swept] == [(), ()]
    assert [one.deleted for one in swept] == [len(one.made) for one in worlds]
    assert [one.standing() for one in worlds] == [[], []]


def test_a_strangers_finalizer_keeps_one_object_and_its_definition_and_stops_no_later_step(
    world: World, strangers: Strangers
) -> None:
    world.build(obstacles=False)
    world.client.patch(
        world.thing,
        "outside",
        {"metadata": {"finalizers": ["stranger.example.com/busy", "strandline.dev/held"]}},
        namespace="default",
    )

    swept = world.sweep(hurried=True)

    busy = "finalizer stranger.example.com/busy"
    definition = f"things.{world.group}"
    assert {str(left) for left in swept.leftovers} == {
        f"{definition} default/outside ({busy})",
        (
            f"customresourcedefinitions.apiextensions.k8s.io {definition} "
            f"(it defines objects of somebody's: default/outside ({busy}))"
        ),
    }
    assert len(world.standing()) == 2
    assert read_inventory(world.state_dir)
    released = {"metadata": {"finalizers": None}}
    world.client.patch(world.thing, "outside", released, namespace="default")
    assert world.sweep().leftovers == ()
    assert world.standing() == []
    assert strangers.touched() == []


def test_a_definition_that_holds_a_strangers_object_stays_even_where_only_we_can_read_it(
    world: World, strangers: Strangers
) -> None:
    world.build()
    (place,) = (one[1] for one in strangers.made if one[0] == NAMESPACES)
    thing = {"apiVersion": world.thing.api_version, "kind": "Thing", "metadata": {"name": "t"}}
    strangers.make(world.thing, thing, namespace=place)

    swept = world.sweep()

    (left,) = swept.leftovers
    assert left.object == f"customresourcedefinitions.apiextensions.k8s.io things.{world.group}"
    assert left.blocker == f"it defines objects of somebody's: {place}/t"
    assert strangers.touched() == []
    strangers.remove("t")
    assert world.sweep().leftovers == ()
    assert world.standing() == []


def test_what_strangers_left_dead_is_named_and_all_else_is_swept(
    world: World, strangers: Strangers
) -> None:
    world.build(obstacles=False)
    client, word = world.client, f"t{secrets.token_hex(3)}"
    group = f"{word}.example.com"
    strangers.make(CUSTOM_RESOURCE_DEFINITIONS, converted(group))
    await_kind(client, thing_of(group))
    strangers.make(API_SERVICES, dead_api(f"dead.{group}"))
    await_dead_api(client, f"dead.{group}")
    hook = dead_webhook(word, namespace="default", operations=["DELETE", "UPDATE"])
    strangers.make(VALIDATING_WEBHOOKS, hook)
    path = CONFIG_MAPS.path("default", f"ours-{world.word}")
    await_webhook(client, path, method="DELETE")

    swept = world.sweep(hurried=True)

    found = {left.object: left.blocker for left in swept.leftovers}
    assert set(found) == {
        f"namespaces {world.namespace}",
        f"configmaps default/ours-{world.word}",
    }
    assert "is unavailable: service/nobody" in found[f"namespaces {world.namespace}"]
    held = found[f"configmaps default/ours-{world.word}"]
    assert f"webhook {word}.example.com of validatingwebhookconfigurations" in held
    assert len(world.standing()) == 2
    assert strangers.touched() == []
    strangers.remove(word)
    strangers.remove(f"v1.dead.{group}")
    assert world.sweep().leftovers == ()
    assert world.standing() == []


def test_of_somebodys_own_stack_the_uid_alone_decides(
    client: ProvenClient, tmp_path: Path, strangers: Strangers
) -> None:
    world = World(client=client, state_dir=tmp_path / "own", label=None)
    world.build(obstacles=False)
    role = f"ours-{world.word}"
    client.delete(CLUSTER_ROLES, role)
    again = strangers.make(CLUSTER_ROLES, {"metadata": {"name": role, "labels": FORGED}})
    adopted = strangers.make(CLUSTER_ROLES, {"metadata": {"name": f"before-{world.word}"}})
    world.record(adopted=(manifest_of(CLUSTER_ROLES, adopted),))

    swept = world.sweep()

    assert swept.leftovers == ()
    assert world.standing() == []
    assert strangers.touched() == []
    assert again["metadata"]["uid"] == client.get(CLUSTER_ROLES, role)["metadata"]["uid"]


def test_an_object_of_ours_whose_label_was_taken_off_is_left_and_named(world: World) -> None:
    world.build(obstacles=False)
    role = f"ours-{world.word}"
    bare = {"metadata": {"labels": {PLATFORM_LABEL: None}}}
    world.client.patch(CLUSTER_ROLES, role, bare)

    swept = world.sweep(hurried=True)

    assert [str(left) for left in swept.leftovers] == [
        f"clusterroles.rbac.authorization.k8s.io {role} (our label was taken off)"
    ]
    world.client.patch(CLUSTER_ROLES, role, {"metadata": {"labels": world.labels}})
    assert world.sweep().leftovers == ()


def _place(one: Sequence[object]) -> str:
    name, namespace, _ = one
    return f"{namespace}/{name}" if namespace else f"{name}"


def _named_among(named: Iterable[str], theirs: set[str], world: World) -> set[str]:
    """Return who of a test's own is named; others on the cluster may carry our label too."""
    return {one for one in named if one in theirs or world.word in one}
