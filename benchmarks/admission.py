"""What admission costs: one decision under load, and what the hook adds to a create.

The decision is timed as the webhook makes it, from the body of a review to the body of its answer,
with what it must see at hand; the reads of the API server and HTTPS are shown beside it. The hook
is switched off and on again in alternating blocks of one run. Called by `laboratory_figures`.
"""

from __future__ import annotations

import json
import secrets
import ssl
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPSConnection
from typing import Any

from harness.bench.world import World
from harness.core.naming import CANARY_NAMESPACE, service_account_user
from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.kube.client import KubeClient
from harness.kube.resources import LAB_KINDS, LAB_RUNS, Resource
from harness.lab.admission import Path
from harness.lab.webhook import review

#: Reviews a second, and for how many seconds of each repeat.
RATE = 200
_SECONDS = 2.0

#: Connections to the webhook; the API server keeps about as many open.
_CONNECTIONS = 8

#: Creates in a block with the hook and in one without; a namespace takes 100 runs.
_CREATES = 40

#: Seconds until a registration is in effect, or none any more; it takes 4 to 16 ms.
_EFFECT_TIMEOUT_S = 10.0

_GROUP = "admissionregistration.k8s.io"
_HOOKS = tuple(
    Resource(group=_GROUP, version="v1", plural=plural, kind=kind, namespaced=False)
    for plural, kind in (
        ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
        ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
    )
)

#: What the API server adds to an object, and takes from nobody.
_SERVERS_OWN = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")


def run_of(name: str, capability: str = "sim.measure_mass", **inputs: Any) -> dict[str, Any]:
    """Return a run of one step. Pure."""
    return {
        "apiVersion": LAB_RUNS.api_version,
        "kind": LAB_RUNS.kind,
        "metadata": {"name": name},
        "spec": {
            "environment": "simulation",
            "steps": [{"id": "one", "capability": capability, "inputs": inputs}],
        },
    }


def review_body(namespace: str, name: str) -> dict[str, Any]:
    """Return the AdmissionReview of an agent's create, as an API server sends it. Pure."""
    run = run_of(name, sample_id="bench")
    run["metadata"]["namespace"] = namespace
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": f"uid-{name}",
            "kind": {"group": LAB_RUNS.group, "version": LAB_RUNS.version, "kind": LAB_RUNS.kind},
            "resource": {
                "group": LAB_RUNS.group,
                "version": LAB_RUNS.version,
                "resource": LAB_RUNS.plural,
            },
            "name": name,
            "namespace": namespace,
            "operation": "CREATE",
            "userInfo": {"username": service_account_user(namespace, "agent")},
            "object": run,
            "oldObject": None,
            "dryRun": False,
        },
    }


def paced(
    ask: Callable[[int], None],
    *,
    rate: float,
    count: int,
    threads: int,
    clock: Clock = SYSTEM_CLOCK,
) -> list[float]:
    """Call at a fixed rate and return milliseconds from when each was due, in order.

    What comes late because those before it took long counts as long: nothing is left out.
    """
    began_s = clock.monotonic_s()

    def one(number: int) -> float:
        due_s = began_s + number / rate
        clock.sleep(max(0.0, due_s - clock.monotonic_s()))
        ask(number)
        return 1000 * (clock.monotonic_s() - due_s)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, range(count)))


def decisions(world: World) -> list[float]:
    """Return milliseconds of each decision, made at the rate of the goal."""
    seen = _objects(world)
    namespace = world.namespace
    taken = []

    def ask(number: int) -> None:
        text = json.dumps(review_body(namespace, f"bench-{number}"))
        started_s = SYSTEM_CLOCK.monotonic_s()
        answer = review(Path.VALIDATE, json.loads(text), lambda kind, _namespace, _name: seen[kind])
        json.dumps(answer)
        taken.append(1000 * (SYSTEM_CLOCK.monotonic_s() - started_s))

    paced(ask, rate=RATE, count=int(RATE * _SECONDS), threads=1)
    return taken


def round_trips(world: World) -> list[float]:
    """Return milliseconds of each review by the webhook of the cluster, its reads included."""
    cluster = world.session.cluster
    if cluster.webhook_port is None:  # pragma: no cover - an embedded cluster has one
        raise AssertionError
    context = ssl.create_default_context(cadata=cluster.webhook_ca_pem.decode())
    port = cluster.webhook_port
    lines = [
        HTTPSConnection("127.0.0.1", port, context=context, timeout=10) for _ in range(_CONNECTIONS)
    ]
    free = list(lines)

    def ask(number: int) -> None:
        line = free.pop()
        try:
            body = json.dumps(review_body(world.namespace, f"bench-{number}"))
            line.request("POST", "/validate", body, {"Content-Type": "application/json"})
            answer = json.loads(line.getresponse().read())
        finally:
            free.append(line)
        if not answer["response"]["allowed"]:
            raise ValueError(answer["response"])

    try:
        return paced(ask, rate=RATE, count=int(RATE * _SECONDS), threads=_CONNECTIONS)
    finally:
        for line in lines:
            line.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Creates:
    """Milliseconds of creates with the hook and without."""

    hooked_ms: Sequence[float]
    bare_ms: Sequence[float]


def creates(world: World, *, blocks: int) -> Creates:
    """Create runs in alternating blocks with the hook registered and not."""
    with closing(KubeClient.from_kubeconfig(world.session.cluster.kubeconfig)) as client:
        hooks = [(kind, _ours(client, kind)) for kind in _HOOKS]
        hooked: list[float] = []
        bare: list[float] = []
        for number in range(blocks):
            for switched_on in (True, False) if number % 2 else (False, True):
                if switched_on:
                    hooked += _block(client, number)
                    continue
                _switch_off(client, hooks)
                try:
                    bare += _block(client, number)
                finally:
                    _switch_on(client, hooks)
    return Creates(hooked_ms=hooked, bare_ms=bare)


def _block(client: KubeClient, number: int) -> list[float]:
    taken = []
    names = [f"bench-{number}-{secrets.token_hex(4)}" for _ in range(_CREATES)]
    try:
        for name in names:
            run = run_of(name, sample_id="bench")
            started_s = SYSTEM_CLOCK.monotonic_s()
            client.create(LAB_RUNS, run, namespace=CANARY_NAMESPACE)
            taken.append(1000 * (SYSTEM_CLOCK.monotonic_s() - started_s))
    finally:
        for name in names:
            client.delete(LAB_RUNS, name, namespace=CANARY_NAMESPACE)
    return taken


def _ours(client: KubeClient, kind: Resource) -> list[dict[str, Any]]:
    found = client.list_objects(kind)
    ours = [item for item in found if item["metadata"]["name"].startswith("strandline-")]
    for item in ours:
        for key in _SERVERS_OWN:
            item["metadata"].pop(key, None)
        item |= {"apiVersion": kind.api_version, "kind": kind.kind}
    return ours


def _switch_off(client: KubeClient, hooks: Sequence[tuple[Resource, list[dict[str, Any]]]]) -> None:
    for kind, objects in hooks:
        for item in objects:
            client.delete(kind, item["metadata"]["name"])
    wait_until(
        lambda: _refused(client),
        lambda refused: not refused,
        what="end of the webhook's registration",
        timeout_s=_EFFECT_TIMEOUT_S,
    )


def _switch_on(client: KubeClient, hooks: Sequence[tuple[Resource, list[dict[str, Any]]]]) -> None:
    for kind, objects in hooks:
        for item in objects:
            client.create(kind, item)
    wait_until(
        lambda: _refused(client), bool, what="webhook's registration", timeout_s=_EFFECT_TIMEOUT_S
    )


def _refused(client: KubeClient) -> bool:
    """Tell whether the webhook refuses what nothing else does: a capability that is nowhere."""
    run = run_of(f"probe-{secrets.token_hex(4)}", "sim.nowhere")
    path = LAB_RUNS.path(CANARY_NAMESPACE)
    return client.ask("POST", path, query={"dryRun": "All"}, body=run).refused


def _objects(world: World) -> Mapping[str, tuple[Mapping[str, Any], ...]]:
    return {
        kind.kind: tuple(world.client.list_objects(kind, namespace=world.namespace))
        for kind in LAB_KINDS
    }
