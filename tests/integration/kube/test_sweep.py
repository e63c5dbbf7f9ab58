"""The sweep of a namespace on a real control plane: fast, whole, and only of what is ours."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from harness.core.waiting import SYSTEM_CLOCK
from harness.kube.client import KubeClient
from harness.kube.identity_guard import ProvenClient
from harness.kube.resources import CONFIG_MAPS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS, Resource
from harness.kube.sweep import labelled_namespaces, sweep_namespace
from tests.integration.kube.conftest import SCRATCHES, MakeNamespace, scratch
from tests.integration.kube.obstacles import HurriedClock

Kinds = tuple[Resource, ...]


EVENTS = Resource(group="", version="v1", plural="events", kind="Event")


def _stored(client: ProvenClient, kinds: Kinds, namespace: str) -> list[str]:
    """Return what etcd holds of a namespace, by lists over all of them."""
    return [
        f"{kind.qualified} {item['metadata']['name']}"
        for kind in kinds
        if kind.namespaced
        for item in client.list_objects(kind)
        if item["metadata"]["namespace"] == namespace
    ]


def _fill(client: KubeClient, namespace: str, count: int) -> None:
    for index in range(count // 2):
        client.create(CONFIG_MAPS, {"metadata": {"name": f"c{index}"}}, namespace=namespace)
        client.create(SCRATCHES, scratch(f"s{index}", n=1), namespace=namespace)


def _uids(client: ProvenClient, kinds: Kinds, namespace: str) -> dict[str, str]:
    return {
        f"{kind.qualified} {item['metadata']['name']}": item["metadata"]["uid"]
        for kind in kinds
        if kind.namespaced
        for item in client.list_objects(kind, namespace=namespace)
    }


def test_a_namespace_of_50_objects_is_gone_in_two_seconds_and_etcd_holds_nothing_of_it(
    client: ProvenClient, kinds: Kinds, namespace: str
) -> None:
    _fill(client, namespace, 50)
    client.create(SECRETS, {"metadata": {"name": "token"}}, namespace=namespace)
    involved = {"kind": "Scratch", "name": "s0", "namespace": namespace}
    event = {"metadata": {"name": "told"}, "involvedObject": involved, "reason": "Test"}
    client.create(EVENTS, event, namespace=namespace)
    began_s = SYSTEM_CLOCK.monotonic_s()

    swept = sweep_namespace(client, namespace, kinds=kinds)

    assert SYSTEM_CLOCK.monotonic_s() - began_s < 2
    assert swept.leftovers == ()
    # 50, the secret, the namespace, and what the controllers put into each: an account, a ConfigMap
    assert swept.deleted == 54
    assert client.find(NAMESPACES, namespace) is None
    assert _stored(client, kinds, namespace) == []


def test_a_finalizer_of_a_strangers_is_named_and_nothing_is_finalized(
    client: ProvenClient, kinds: Kinds, namespace: str
) -> None:
    manifest = scratch("kept")
    manifest["metadata"]["finalizers"] = ["stranger.example.com/busy"]
    client.create(SCRATCHES, manifest, namespace=namespace)
    client.create(CONFIG_MAPS, {"metadata": {"name": "ours"}}, namespace=namespace)

    swept = sweep_namespace(client, namespace, kinds=kinds, clock=HurriedClock())

    assert [str(left) for left in swept.leftovers] == [
        f"scratches.lab.strandline.dev {namespace}/kept (finalizer stranger.example.com/busy)"
    ]
    found = client.get(NAMESPACES, namespace)
    assert found["status"]["phase"] == "Terminating"
    assert found["spec"]["finalizers"] == ["kubernetes"]
    assert client.get(SCRATCHES, "kept", namespace=namespace)["metadata"]["finalizers"]
    assert client.find(CONFIG_MAPS, "ours", namespace=namespace) is None
    client.patch(SCRATCHES, "kept", {"metadata": {"finalizers": None}}, namespace=namespace)
    assert sweep_namespace(client, namespace, kinds=kinds).leftovers == ()


def test_a_namespace_that_is_not_there_is_nothing_to_do(client: ProvenClient, kinds: Kinds) -> None:
    swept = sweep_namespace(client, f"kube-{secrets.token_hex(4)}", kinds=kinds)

    assert (swept.deleted, swept.leftovers) == (0, ())


def test_a_second_sweep_finds_nothing(client: ProvenClient, kinds: Kinds, namespace: str) -> None:
    sweep_namespace(client, namespace, kinds=kinds)

    swept = sweep_namespace(client, namespace, kinds=kinds)

    assert (swept.deleted, swept.leftovers) == (0, ())


def test_a_strangers_namespace_keeps_every_object_and_every_uid(
    client: ProvenClient, kinds: Kinds, make_namespace: MakeNamespace
) -> None:
    ours, strangers = make_namespace(), make_namespace()
    _fill(client, ours, 6)
    _fill(client, strangers, 6)
    uid = client.get(NAMESPACES, strangers)["metadata"]["uid"]
    before = _uids(client, kinds, strangers)

    swept = sweep_namespace(client, ours, kinds=kinds)

    assert swept.leftovers == ()
    assert _uids(client, kinds, strangers) == before
    assert len(before) >= 8
    assert client.get(NAMESPACES, strangers)["metadata"]["uid"] == uid


def test_creates_that_race_with_the_sweep_leave_no_orphan(
    client: ProvenClient, kinds: Kinds, make_namespace: MakeNamespace
) -> None:
    namespaces = [make_namespace() for _ in range(3)]
    over = Event()

    def intrude(namespace: str) -> int:
        made = 0
        while not over.is_set():
            answer = client.ask("POST", SCRATCHES.path(namespace), body=scratch(n=1))
            made += answer.status == 201
        return made

    with ThreadPoolExecutor(3) as pool:
        intruders = [pool.submit(intrude, namespace) for namespace in namespaces]
        try:
            swept = [sweep_namespace(client, name, kinds=kinds) for name in namespaces]
        finally:
            over.set()
        made = [intruder.result() for intruder in intruders]

    assert all(made)
    assert [each.leftovers for each in swept] == [(), (), ()]
    assert [_stored(client, kinds, name) for name in namespaces] == [[], [], []]


def test_an_object_whose_namespace_is_gone_is_found(
    client: ProvenClient, kinds: Kinds, namespace: str
) -> None:
    client.create(SCRATCHES, scratch("orphan"), namespace=namespace)
    client.delete(NAMESPACES, namespace)
    held = client.get(NAMESPACES, namespace)
    held["spec"] = {"finalizers": []}
    client.call("PUT", NAMESPACES.path(name=namespace, subresource="finalize"), body=held)

    swept = sweep_namespace(client, namespace, kinds=kinds)

    assert f"scratches.lab.strandline.dev {namespace}/orphan (its namespace is gone)" in [
        str(left) for left in swept.leftovers
    ]
    client.create(NAMESPACES, {"metadata": {"name": namespace}})
    assert sweep_namespace(client, namespace, kinds=kinds).leftovers == ()


def test_namespaces_are_found_by_a_label_whatever_its_value(
    client: ProvenClient, namespace: str
) -> None:
    label = f"test.strandline.dev/{secrets.token_hex(3)}"
    assert labelled_namespaces(client, label) == []
    client.patch(NAMESPACES, namespace, {"metadata": {"labels": {label: "any"}}})

    found = labelled_namespaces(client, label)

    assert [item["metadata"]["name"] for item in found] == [namespace]


def test_a_kind_that_went_away_since_discovery_does_not_stop_a_sweep(
    client: ProvenClient, kinds: Kinds, namespace: str
) -> None:
    gone = Resource(group="gone.example.com", version="v1", plural="things", kind="Thing")

    swept = sweep_namespace(client, namespace, kinds=(*kinds, gone))

    assert swept.leftovers == ()
    assert client.find(SERVICE_ACCOUNTS, "default", namespace=namespace) is None
