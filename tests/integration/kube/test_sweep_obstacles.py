"""A namespace of ours among what can keep it: what is ours gives way, a stranger's is named."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from harness.core.waiting import wait_until
from harness.kube.identity_guard import ProvenClient
from harness.kube.resources import (
    API_SERVICES,
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    NAMESPACES,
    VALIDATING_WEBHOOKS,
    Resource,
)
from harness.kube.sweep import sweep_namespace
from tests.integration.kube.conftest import SCRATCHES, MakeNamespace, scratch
from tests.integration.kube.obstacles import (
    HurriedClock,
    Strangers,
    await_dead_api,
    await_kind,
    await_webhook,
    converted,
    dead_api,
    dead_webhook,
    hide_objects,
    thing_of,
)

Kinds = tuple[Resource, ...]

OURS = "strandline.dev/held"
THEIRS = "stranger.example.com/busy"


@pytest.fixture
def strangers(client: ProvenClient) -> Iterator[Strangers]:
    """Objects of somebody's; none may have been touched when the test ends."""
    made = Strangers(client=client)
    try:
        yield made
        assert made.touched() == []
    finally:
        for _, name, _, _ in reversed(tuple(made.made)):
            made.remove(name)


def _group() -> str:
    return f"g{secrets.token_hex(3)}.example.com"


def test_our_own_finalizer_comes_off_and_a_strangers_stays_and_is_named(
    client: ProvenClient, kinds: Kinds, namespace: str
) -> None:
    for name, finalizers in (("ours", [OURS]), ("both", [OURS, THEIRS])):
        manifest = scratch(name)
        manifest["metadata"]["finalizers"] = finalizers
        client.create(SCRATCHES, manifest, namespace=namespace)

    swept = sweep_namespace(client, namespace, kinds=kinds, clock=HurriedClock())

    assert [str(left) for left in swept.leftovers] == [
        f"scratches.lab.strandline.dev {namespace}/both (finalizer {THEIRS})"
    ]
    assert client.find(SCRATCHES, "ours", namespace=namespace) is None
    found = client.get(SCRATCHES, "both", namespace=namespace)
    assert found["metadata"]["finalizers"] == [THEIRS]
    client.patch(SCRATCHES, "both", {"metadata": {"finalizers": None}}, namespace=namespace)


def test_a_namespace_that_was_made_again_is_not_the_one_that_was_meant(
    client: ProvenClient, kinds: Kinds, namespace: str
) -> None:
    client.create(CONFIG_MAPS, {"metadata": {"name": "kept"}}, namespace=namespace)

    swept = sweep_namespace(client, namespace, kinds=kinds, uid="another")

    assert (swept.deleted, swept.leftovers) == (0, ())
    assert "deletionTimestamp" not in client.get(NAMESPACES, namespace)["metadata"]
    assert client.find(CONFIG_MAPS, "kept", namespace=namespace)


def test_a_dead_webhook_of_a_strangers_that_refuses_deletions_is_named_by_its_configuration(
    client: ProvenClient, kinds: Kinds, namespace: str, strangers: Strangers
) -> None:
    client.create(CONFIG_MAPS, {"metadata": {"name": "held"}}, namespace=namespace)
    client.create(SCRATCHES, scratch("free"), namespace=namespace)
    name = f"theirs-{secrets.token_hex(3)}"
    strangers.make(
        VALIDATING_WEBHOOKS, dead_webhook(name, namespace=namespace, operations=["DELETE"])
    )
    await_webhook(client, CONFIG_MAPS.path(namespace, "held"), method="DELETE")

    swept = sweep_namespace(client, namespace, kinds=kinds, clock=HurriedClock())

    blocker = (
        f"webhook {name}.example.com of validatingwebhookconfigurations.admissionregistration."
        f"k8s.io {name}: dial tcp 127.0.0.1:1: connect: connection refused"
    )
    assert f"configmaps {namespace}/held ({blocker})" in [str(left) for left in swept.leftovers]
    assert client.find(SCRATCHES, "free", namespace=namespace) is None
    strangers.remove(name)
    assert sweep_namespace(client, namespace, kinds=kinds).leftovers == ()


def test_a_dead_webhook_of_a_strangers_that_refuses_updates_keeps_our_finalizer_and_is_named(
    client: ProvenClient, kinds: Kinds, namespace: str, strangers: Strangers
) -> None:
    held = {"metadata": {"name": "held", "finalizers": [OURS]}}
    client.create(CONFIG_MAPS, held, namespace=namespace)
    name = f"theirs-{secrets.token_hex(3)}"
    strangers.make(
        VALIDATING_WEBHOOKS, dead_webhook(name, namespace=namespace, operations=["UPDATE"])
    )
    await_webhook(client, CONFIG_MAPS.path(namespace, "held"), method="PUT", body=held)

    swept = sweep_namespace(client, namespace, kinds=kinds, clock=HurriedClock())

    (left,) = swept.leftovers
    assert left.object == f"configmaps {namespace}/held"
    assert left.blocker.startswith(f"finalizer {OURS}, webhook {name}.example.com of ")
    strangers.remove(name)
    assert sweep_namespace(client, namespace, kinds=kinds).leftovers == ()


def test_a_dead_api_of_a_strangers_keeps_the_empty_namespace_and_is_named(
    client: ProvenClient, kinds: Kinds, namespace: str, strangers: Strangers
) -> None:
    client.create(CONFIG_MAPS, {"metadata": {"name": "ours"}}, namespace=namespace)
    group = _group()
    strangers.make(API_SERVICES, dead_api(group))
    await_dead_api(client, group)

    swept = sweep_namespace(client, namespace, kinds=client.discover(), clock=HurriedClock())

    (left,) = swept.leftovers
    assert left.object == f"namespaces {namespace}"
    assert left.blocker == (
        f"apiservices.apiregistration.k8s.io v1.{group} is unavailable: "
        'service/nobody in "default" is not present'
    )
    assert client.find(CONFIG_MAPS, "ours", namespace=namespace) is None
    assert client.get(NAMESPACES, namespace)["spec"]["finalizers"] == ["kubernetes"]
    strangers.remove(f"v1.{group}")
    again = sweep_namespace(client, namespace, kinds=kinds)
    assert again.leftovers == ()
    assert client.find(NAMESPACES, namespace) is None


def test_objects_behind_a_dead_conversion_go_in_the_version_in_which_they_were_written(
    client: ProvenClient, make_namespace: MakeNamespace, kinds: Kinds, strangers: Strangers
) -> None:
    namespace, elsewhere = make_namespace(), make_namespace()
    group = _group()
    thing = thing_of(group)
    strangers.make(CUSTOM_RESOURCE_DEFINITIONS, converted(group))
    await_kind(client, thing)
    client.create(thing, _thing(thing, "a"), namespace=namespace)
    strangers.make(thing, _thing(thing, "b"), namespace=elsewhere)
    found = client.discover()
    assert {kind.version for kind in found if kind.group == group} == {"v2"}

    swept = sweep_namespace(client, namespace, kinds=found)

    assert swept.leftovers == ()
    assert client.find(thing, "a", namespace=namespace) is None
    assert strangers.touched() == []
    strangers.remove("b")
    del kinds


def test_objects_that_nobody_can_read_keep_the_namespace_and_their_kind_is_named(
    client: ProvenClient, kinds: Kinds, namespace: str, strangers: Strangers
) -> None:
    group = _group()
    thing = thing_of(group)
    strangers.make(CUSTOM_RESOURCE_DEFINITIONS, converted(group))
    await_kind(client, thing)
    client.create(thing, _thing(thing, "a"), namespace=namespace)
    hide_objects(client, f"things.{group}")
    wait_until(
        lambda: client.ask("GET", f"/apis/{group}/v1").status,
        lambda status: status == 404,
        what="end of v1",
        timeout_s=10,
    )

    swept = sweep_namespace(client, namespace, kinds=client.discover(), clock=HurriedClock())

    (left,) = swept.leftovers
    assert left.object == f"namespaces {namespace}"
    assert left.blocker.startswith(f"things.{group} cannot be listed: ")
    assert client.get(NAMESPACES, namespace)["spec"]["finalizers"] == ["kubernetes"]
    plain = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
    client.patch(CUSTOM_RESOURCE_DEFINITIONS, f"things.{group}", plain)
    del kinds


def _thing(kind: Resource, name: str) -> dict[str, object]:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}}
