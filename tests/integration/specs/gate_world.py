"""Three guard rails on a cluster, and every way in which they can be out of order.

The guard rails are a webhook, an admission policy, and a kind of its own that the webhook guards;
each has one case. Every fault is made for real on a live cluster, and repaired again.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trustme

from harness.core.waiting import wait_until
from harness.kube.client import KubeClient
from harness.kube.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    VALIDATING_WEBHOOKS,
    Resource,
)
from harness.model.spec import CaseResult, Cause, SafetySpec
from harness.specs.gate import GateReport, failing, open_gate
from harness.specs.loader import LoadedSpec
from harness.specs.probe import Probe
from harness.specs.running import run_specs
from tests.integration.specs.faulty_webhook import (
    STRANGERS_PATH,
    Draw,
    FaultyWebhook,
    Reply,
    always,
    at_random,
    in_turn,
)

#: Nothing is stored in it: every request is a dry run.
NAMESPACE = "default"
NAME = "gate-world"
GROUP = "gate-world.example.com"
HOOK = f"validate.{GROUP}"
STRANGER = "stranger-world"

#: Guards, as specs are named after them.
BY_WEBHOOK, BY_POLICY, BY_KIND = "webhook", "policy", "kind"

#: Seconds after which the API server gives up on the webhook: the shortest there is.
_HOOK_TIMEOUT_S = 1

#: Seconds until a guard rail that was made holds: a policy takes up to 1 s, more when busy.
_EFFECT_TIMEOUT_S = 30.0


def spec_of(guard: str, resource: str, refused: Mapping[str, Any]) -> LoadedSpec:
    """Return a spec of one case: what is not wanted is refused, what is wanted passes."""

    def request(wanted: str) -> dict[str, Any]:
        metadata = {"name": "probe", "labels": {NAME: guard}}
        body = {"metadata": metadata, "data": {"wanted": wanted}}
        return {"verb": "create", "resource": resource, "body": body}

    case = {
        "name": f"the {guard} refuses what is not wanted",
        "as": "admin",
        "request": request("no"),
        "expect": {"refused": {**refused, "message": "not wanted"}},
        "control": {"as": "admin", "request": request("yes")},
    }
    value = {
        "apiVersion": "strandline.dev/v1",
        "kind": "SafetySpec",
        "metadata": {"name": guard},
        "spec": {"cases": [case]},
    }
    spec = SafetySpec.model_validate(value)
    return LoadedSpec(spec=spec, path=Path(f"{guard}/spec.yaml"), policy_path=None)


SPECS: Mapping[str, LoadedSpec] = {
    BY_WEBHOOK: spec_of(BY_WEBHOOK, "configmaps", {"by": "webhook", "name": HOOK}),
    BY_POLICY: spec_of(BY_POLICY, "configmaps", {"by": "policy", "name": NAME}),
    BY_KIND: spec_of(BY_KIND, f"widgets.{GROUP}", {"by": "webhook", "name": HOOK}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateWorld:
    """The guard rails, all in order between two faults."""

    client: KubeClient
    webhook: FaultyWebhook
    probe: Probe

    def round_of(self, guard: str) -> Callable[[str, int], tuple[CaseResult, ...]]:
        """Return what runs the case of a guard, for the gate."""
        specs = (SPECS[guard],)
        return lambda marker, probes: run_specs(
            specs, "ready", self.probe, marker=marker, probes=probes
        )

    def open_gate(self, guard: str, *, timeout_s: float) -> GateReport:
        """Open the gate of one guard."""
        return open_gate(self.round_of(guard), timeout_s=timeout_s)

    def settle(self) -> None:
        """Wait until every guard rail holds."""
        for guard in SPECS:
            self.open_gate(guard, timeout_s=_EFFECT_TIMEOUT_S)

    def wait_for(self, guard: str, *, held: bool) -> None:
        """Wait until a change has taken effect: a few probes hold, or do not.

        Not a single one, which may meet the one of two backends that works each time, and its
        control the other.
        """
        wait_until(
            lambda: run_specs((SPECS[guard],), "ready", self.probe, probes=2),
            lambda results: (not failing(results)) is held,
            what=f"effect on the {guard}",
            timeout_s=_EFFECT_TIMEOUT_S,
            interval_s=0.005,
        )

    def registration(self, **changes: Any) -> dict[str, Any]:
        """Return the registration of the webhook, changed."""
        return {"metadata": {"name": NAME}, "webhooks": [{**self._hook(HOOK), **changes}]}

    def register(self, **changes: Any) -> None:
        """Put the registration of the webhook there, changed."""
        self.client.patch(VALIDATING_WEBHOOKS, NAME, self.registration(**changes))

    def strangers_registration(self) -> dict[str, Any]:
        """Return the registration of a webhook that is not ours and refuses the same."""
        url = self.webhook.url.replace("/validate", STRANGERS_PATH)
        hook = {**self._hook(f"stranger.{GROUP}"), "clientConfig": self.trusting(url)}
        return {"metadata": {"name": STRANGER}, "webhooks": [hook]}

    def trusting(self, url: str, ca_pem: bytes = b"") -> dict[str, Any]:
        """Return where a webhook is asked, and whom its certificate is trusted from."""
        bundle = base64.b64encode(ca_pem or self.webhook.ca_pem).decode()
        return {"url": url, "caBundle": bundle}

    def _hook(self, name: str) -> dict[str, Any]:
        rule = {"apiGroups": ["", GROUP], "apiVersions": ["v1"], "operations": ["CREATE"]}
        selected = [{"key": NAME, "operator": "In", "values": [BY_WEBHOOK, BY_KIND]}]
        return {
            "name": name,
            "clientConfig": self.trusting(self.webhook.url),
            "rules": [{**rule, "resources": ["configmaps", "widgets"]}],
            "objectSelector": {"matchExpressions": selected},
            "matchConditions": [],
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "timeoutSeconds": _HOOK_TIMEOUT_S,
            "admissionReviewVersions": ["v1"],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way to be out of order.

    Attributes:
        cause: What the gate must say.
        broken: Brings it about.
        repaired: Puts the world in order; its effect may take a while.
        guard: Whose case shows it.
        says: Text that the gate's message must hold.
        drawn: What chance made of it.
    """

    cause: Cause
    broken: Callable[[GateWorld], Any]
    repaired: Callable[[GateWorld], Any]
    guard: str = BY_WEBHOOK
    says: str = ""
    drawn: str = ""


def _meets(draw: Draw) -> Callable[[GateWorld], None]:
    return lambda world: world.webhook.meets(draw)


def _met(cause: Cause, reply: Reply, says: str = "") -> Fault:
    in_order = _meets(always(Reply.DENIES))
    return Fault(cause=cause, broken=_meets(always(reply)), repaired=in_order, says=says)


def _at_times(draw: Draw, drawn: str = "") -> Fault:
    in_order = _meets(always(Reply.DENIES))
    return Fault(cause=Cause.FLAPPING, broken=_meets(draw), repaired=in_order, drawn=drawn)


def _registered(cause: Cause, says: str = "", **changes: Any) -> Fault:
    return Fault(
        cause=cause,
        broken=lambda world: world.register(**changes),
        repaired=lambda world: world.register(),
        says=says,
    )


def _absent(
    resource: Resource, manifest: Callable[[GateWorld], Any], cause: Cause, guard: str
) -> Fault:
    def gone(world: GateWorld) -> None:
        world.client.delete(resource, manifest(world)["metadata"]["name"])

    return Fault(
        cause=cause,
        broken=gone,
        repaired=lambda world: world.client.create(resource, manifest(world)),
        guard=guard,
    )


def _mistrusted(world: GateWorld) -> None:
    strangers = trustme.CA().cert_pem.bytes()
    world.register(clientConfig=world.trusting(world.webhook.url, strangers))


def _ignored_and_down(world: GateWorld) -> None:
    world.register(failurePolicy="Ignore")
    world.webhook.end()


def _up_and_not_ignored(world: GateWorld) -> None:
    world.webhook.start()
    world.register()


def _answered_by_a_stranger(world: GateWorld) -> None:
    world.webhook.meets(always(Reply.ALLOWS))
    world.client.create(VALIDATING_WEBHOOKS, world.strangers_registration())


def _without_the_stranger(world: GateWorld) -> None:
    world.client.delete(VALIDATING_WEBHOOKS, STRANGER)
    world.webhook.meets(always(Reply.DENIES))


def faults(chance: random.Random) -> dict[str, Fault]:
    """Return every fault by its name; where only a share of the calls meets it, one is drawn."""
    share = chance.uniform(0.1, 0.9)
    burst = chance.randint(1, 9)
    bursts = in_turn(*[Reply.ALLOWS] * burst, *[Reply.DENIES] * (10 - burst))
    lets_through = Cause.NOT_EFFECTIVE
    return {
        "kind missing": _absent(
            CUSTOM_RESOURCE_DEFINITIONS, lambda _: definition(), Cause.KIND_MISSING, BY_KIND
        ),
        "policy bound to nothing": _absent(
            VALIDATING_POLICY_BINDINGS, lambda _: binding(), lets_through, BY_POLICY
        ),
        "policy missing": _absent(VALIDATING_POLICIES, lambda _: policy(), lets_through, BY_POLICY),
        "webhook not registered": _absent(
            VALIDATING_WEBHOOKS, GateWorld.registration, lets_through, BY_WEBHOOK
        ),
        "webhook not asked": _registered(
            lets_through, matchConditions=[{"name": "never", "expression": "false"}]
        ),
        "connection refused": Fault(
            cause=Cause.CONNECTION_REFUSED,
            broken=lambda world: world.webhook.end(),
            repaired=lambda world: world.webhook.start(),
        ),
        "ignored, on a dead port": Fault(
            cause=lets_through, broken=_ignored_and_down, repaired=_up_and_not_ignored
        ),
        "authority not trusted": Fault(
            cause=Cause.TLS, broken=_mistrusted, repaired=lambda world: world.register()
        ),
        "certificate of another authority": _met(
            Cause.TLS, Reply.UNTRUSTED, "certificate signed by unknown authority"
        ),
        "certificate expired": _met(Cause.TLS, Reply.EXPIRED, "certificate has expired"),
        "certificate for another name": _met(Cause.TLS, Reply.OTHER_NAME, "cannot validate"),
        "plain HTTP": _met(Cause.TLS, Reply.PLAIN),
        "hangs": _met(Cause.TIMED_OUT, Reply.HANGS),
        "slow": _met(Cause.TIMED_OUT, Reply.SLOW),
        "500": _met(Cause.WEBHOOK_FAILED, Reply.ERROR),
        "404": _met(Cause.WEBHOOK_FAILED, Reply.NOT_FOUND),
        "no JSON": _met(Cause.BAD_REVIEW, Reply.NOT_JSON),
        "no review": _met(Cause.BAD_REVIEW, Reply.NO_REVIEW),
        "another request's uid": _met(Cause.BAD_REVIEW, Reply.WRONG_UID),
        "closes at once": _met(Cause.CONNECTION_CLOSED, Reply.CLOSES),
        "resets at once": _met(Cause.CONNECTION_CLOSED, Reply.RESETS),
        "warns only": _met(lets_through, Reply.WARNS, "warned: not wanted"),
        "allows everything": _met(lets_through, Reply.ALLOWS),
        "denies everything": _met(Cause.CONTROL_REFUSED, Reply.DENIES_ALL),
        "denies for another reason": _met(Cause.OTHER_ANSWER, Reply.DENIES_OTHERWISE),
        "a stranger's denies": Fault(
            cause=Cause.WRONG_REFUSER,
            broken=_answered_by_a_stranger,
            repaired=_without_the_stranger,
        ),
        "a share of the calls passes": _at_times(at_random(share, chance), f"{share:.0%}"),
        "bursts of calls pass": _at_times(bursts, f"{burst} of 10"),
        "one of two backends is stale, in turn": _at_times(in_turn(Reply.DENIES, Reply.ALLOWS)),
        "one of two backends is stale, at random": _at_times(at_random(0.5, chance)),
    }


def policy() -> dict[str, Any]:
    """Return the admission policy."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"]}
    expression = "!has(object.data) || object.data[?'wanted'].orValue('') != 'no'"
    denied = {"expression": expression, "message": "not wanted", "reason": "Forbidden"}
    return {
        "metadata": {"name": NAME},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [{**rule, "resources": ["configmaps"]}],
                "objectSelector": {"matchLabels": {NAME: BY_POLICY}},
            },
            "validations": [denied],
        },
    }


def binding() -> dict[str, Any]:
    """Return what binds the policy."""
    spec = {"policyName": NAME, "validationActions": ["Deny"]}
    return {"metadata": {"name": NAME}, "spec": spec}


def definition() -> dict[str, Any]:
    """Return the kind of its own."""
    fields = {"type": "object", "additionalProperties": {"type": "string"}}
    schema = {"type": "object", "properties": {"data": fields}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    return {
        "metadata": {"name": f"widgets.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


@contextmanager
def gate_world(client: KubeClient, folder: Path) -> Iterator[GateWorld]:
    """Make the world on a cluster, and take it down again, whatever happened."""
    webhook = FaultyWebhook(folder)
    world = GateWorld(client=client, webhook=webhook, probe=Probe.of(client, NAMESPACE, ()))
    made: list[tuple[Resource, dict[str, Any]]] = [
        (CUSTOM_RESOURCE_DEFINITIONS, definition()),
        (VALIDATING_POLICIES, policy()),
        (VALIDATING_POLICY_BINDINGS, binding()),
        (VALIDATING_WEBHOOKS, world.registration()),
    ]
    with ExitStack() as taken_down:
        taken_down.callback(webhook.end)
        webhook.start()
        taken_down.callback(client.delete, VALIDATING_WEBHOOKS, STRANGER)
        for resource, manifest in made:
            taken_down.callback(client.delete, resource, manifest["metadata"]["name"])
            client.create(resource, manifest)
        world.settle()
        yield world
